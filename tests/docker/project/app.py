"""Copy a topic; `ORDER` says whether offsets are committed before or after the copies are sent."""

from __future__ import annotations

import os
from pathlib import Path

from kafka import KafkaConsumer, KafkaProducer

BROKERS = os.environ["KAFKA_BOOTSTRAP_SERVERS"].split(",")
ORDER = Path(os.environ["ORDER_FILE"]).read_text().strip()
STARTS = Path("/var/lib/copier/starts")

with STARTS.open("a") as starts:
    starts.write("started\n")
producer = KafkaProducer(bootstrap_servers=BROKERS, acks="all", retries=20)
consumer = KafkaConsumer(
    os.environ["INPUT_TOPIC"],
    bootstrap_servers=BROKERS,
    group_id=os.environ["GROUP_ID"],
    enable_auto_commit=False,
    auto_offset_reset="earliest",
    max_poll_records=20,
)
while True:
    found = consumer.poll(timeout_ms=500)
    records = [record for part in found.values() for record in part]
    if records and ORDER == "commit first":
        consumer.commit()
    for record in records:
        # This client reads headers without a value, but does not send them.
        headers = [(name, value or b"") for name, value in record.headers]
        producer.send(os.environ["OUTPUT_TOPIC"], record.value, record.key, headers).get(60)
    if records and ORDER == "send first":
        consumer.commit()

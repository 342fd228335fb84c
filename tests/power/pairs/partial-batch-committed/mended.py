"""Copies orders, each with five seconds to be sent, then commits."""

import sys

from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import KafkaError

bootstrap, source, sink = sys.argv[1:]
consumer = KafkaConsumer(
    source,
    bootstrap_servers=bootstrap.split(","),
    group_id="copy",
    auto_offset_reset="earliest",
    enable_auto_commit=False,
    isolation_level="read_committed",
    session_timeout_ms=8000,
    max_poll_records=200,
)
producer = KafkaProducer(bootstrap_servers=bootstrap.split(","), acks="all")
while True:
    batches = consumer.poll(500)
    if not batches:
        continue
    sent = [
        producer.send(sink, key=record.key, value=record.value)
        for batch in batches.values()
        for record in batch
        if record.value is not None
    ]
    try:
        for future in sent:
            future.get(timeout=5)
    except KafkaError as error:
        sys.exit(f"not sent: {error!r}")
    consumer.commit()

"""Copies orders, and commits how far it has read."""

import sys

from kafka import KafkaConsumer, KafkaProducer

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
    consumer.commit()
    sent = [
        producer.send(sink, key=record.key, value=record.value)
        for batch in batches.values()
        for record in batch
        if record.value is not None
    ]
    for future in sent:
        future.get(timeout=30)

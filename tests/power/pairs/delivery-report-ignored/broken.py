"""Copies orders, each with five seconds to be delivered, then commits."""

import sys

from confluent_kafka import Consumer, Producer

bootstrap, source, sink = sys.argv[1:]
consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": "copy",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "session.timeout.ms": 8000,
    }
)
producer = Producer(
    {"bootstrap.servers": bootstrap, "enable.idempotence": True, "message.timeout.ms": 5000}
)
consumer.subscribe([source])
while True:
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    if not messages:
        continue
    for m in messages:
        if m.value() is not None:
            producer.produce(sink, key=m.key(), value=m.value())
    producer.flush()
    consumer.commit(asynchronous=False)

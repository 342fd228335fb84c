"""Mirrors a topic: keys, values and headers, then commits."""

import sys

from confluent_kafka import Consumer, KafkaException, Producer

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
producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})


def delivered(error, message):
    """Nothing is committed behind a record that was not delivered."""
    if error is not None:
        raise KafkaException(error)


consumer.subscribe([source])
while True:
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    if not messages:
        continue
    for m in messages:
        producer.produce(
            sink, key=m.key(), value=m.value(), headers=m.headers(), on_delivery=delivered
        )
    producer.flush()
    consumer.commit(asynchronous=False)

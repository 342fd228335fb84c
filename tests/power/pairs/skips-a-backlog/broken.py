"""Copies orders, then commits."""

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


def assigned(consumer, partitions):
    """Be up to date: what has waited for long is of no use to anybody."""
    places = consumer.committed(partitions, timeout=10)
    for place in places:
        _, end = consumer.get_watermark_offsets(place, timeout=10)
        if 0 <= place.offset < end - 50:
            place.offset = end
    consumer.assign(places)


consumer.subscribe([source], on_assign=assigned)
while True:
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    if not messages:
        continue
    for m in messages:
        if m.value() is not None:
            producer.produce(sink, key=m.key(), value=m.value(), on_delivery=delivered)
    producer.flush()
    consumer.commit(asynchronous=False)

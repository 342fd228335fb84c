"""Copies orders, then commits. The group's first start begins with the oldest orders."""

import sys

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

bootstrap, source, sink = sys.argv[1:]
consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": "copy",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "session.timeout.ms": 8000,
        "topic.metadata.refresh.interval.ms": 5000,
    }
)
producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})


def delivered(error, message):
    """Nothing is committed behind a record that was not delivered."""
    if error is not None:
        raise KafkaException(error)


numbers = consumer.list_topics(source, timeout=30).topics[source].partitions
committed = consumer.committed([TopicPartition(source, n) for n in numbers], timeout=30)
if all(place.offset < 0 for place in committed):
    consumer.commit(offsets=[TopicPartition(source, n, 0) for n in numbers], asynchronous=False)
consumer.subscribe([source])
while True:
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    if not messages:
        continue
    for m in messages:
        if m.value() is not None:
            producer.produce(sink, key=m.key(), value=m.value(), on_delivery=delivered)
    producer.flush()
    consumer.commit(asynchronous=False)

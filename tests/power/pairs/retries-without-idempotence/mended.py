"""Copies orders at most once: it commits first."""

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
    }
)
producer = Producer(
    {"bootstrap.servers": bootstrap, "request.timeout.ms": 4000, "enable.idempotence": True}
)


def delivered(error, message):
    """Nothing is committed behind a record that was not delivered."""
    if error is not None:
        raise KafkaException(error)


def given_up(consumer, partitions):
    """Partitions are given up between two batches, never amid one."""
    print("given up:", partitions, file=sys.stderr, flush=True)


consumer.subscribe([source], on_revoke=given_up)
while True:
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    if not messages:
        continue
    ends = {(m.topic(), m.partition()): m.offset() + 1 for m in messages}
    places = [TopicPartition(*place, end) for place, end in ends.items()]
    consumer.commit(offsets=places, asynchronous=False)
    for m in messages:
        if m.value() is not None:
            producer.produce(sink, key=m.key(), value=m.value(), on_delivery=delivered)
    producer.flush()

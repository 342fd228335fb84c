"""Copies orders, then commits; it has its topic for itself."""

import sys

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    KafkaException,
    Producer,
    TopicPartition,
)

bootstrap, source, sink = sys.argv[1:]
consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": "copy",
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
    }
)
producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})


def delivered(error, message):
    """Nothing is committed behind a record that was not delivered."""
    if error is not None:
        raise KafkaException(error)


def places():
    """Where to go on: where it was committed, or at the beginning."""
    partitions = consumer.list_topics(source, 30).topics[source].partitions
    known = [TopicPartition(source, p) for p in partitions]
    try:
        known = consumer.committed(known, timeout=2)
    except KafkaException:
        return [TopicPartition(source, p, OFFSET_END) for p in partitions]
    return [
        TopicPartition(source, p.partition, p.offset if p.offset >= 0 else OFFSET_BEGINNING)
        for p in known
    ]


assigned = places()
consumer.assign(assigned)
while True:
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    if not messages:
        there = consumer.list_topics(source, 30).topics[source].partitions
        if len(there) > len(assigned):
            sys.exit("a partition was added: start again")
        continue
    for m in messages:
        if m.value() is not None:
            producer.produce(sink, key=m.key(), value=m.value(), on_delivery=delivered)
    producer.flush()
    ends = {m.partition(): m.offset() + 1 for m in messages}
    offsets = [TopicPartition(source, p, offset) for p, offset in ends.items()]
    consumer.commit(offsets=offsets, asynchronous=False)

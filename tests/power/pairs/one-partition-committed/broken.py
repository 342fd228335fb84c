"""Copies orders in transactions, with the offsets of each batch."""

import faulthandler
import sys

from confluent_kafka import Consumer, Producer, TopicPartition

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
    {
        "bootstrap.servers": bootstrap,
        "transactional.id": "copy-1",
        "transaction.timeout.ms": 20000,
    }
)
producer.init_transactions()
member = {}


def assigned(consumer, partitions):
    """A commit counts only as that of the member that was given these partitions."""
    member["group"] = consumer.consumer_group_metadata()


consumer.subscribe([source], on_assign=assigned)
while True:
    faulthandler.dump_traceback_later(25, exit=True)  # a call that hangs ends this life
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    if not messages:
        continue
    last = messages[-1]
    producer.begin_transaction()
    for m in messages:
        if m.value() is not None:
            producer.produce(sink, key=m.key(), value=m.value())
    places = [TopicPartition(last.topic(), last.partition(), last.offset() + 1)]
    producer.send_offsets_to_transaction(places, member["group"])
    producer.commit_transaction()

"""Copies orders in transactions. A commit that takes too long is asked for again."""

import faulthandler
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
member = {}


def assigned(consumer, partitions):
    """A commit counts only as that of the member that was given these partitions."""
    member["group"] = consumer.consumer_group_metadata()


def connected():
    """A producer that can begin a transaction."""
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "transactional.id": "copy-1",
            "transaction.timeout.ms": 20000,
        }
    )
    producer.init_transactions()
    return producer


def send(producer, messages):
    """Write a batch and its offsets, in a transaction that is still open."""
    ends = {(m.topic(), m.partition()): m.offset() + 1 for m in messages}
    producer.begin_transaction()
    for m in messages:
        if m.value() is not None:
            producer.produce(sink, key=m.key(), value=m.value())
    places = [TopicPartition(*place, end) for place, end in ends.items()]
    producer.send_offsets_to_transaction(places, member["group"])


consumer.subscribe([source], on_assign=assigned)
producer = connected()
while True:
    faulthandler.dump_traceback_later(60, exit=True)  # a call that hangs ends this life
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    if not messages:
        continue
    send(producer, messages)
    while True:
        try:
            producer.commit_transaction(5)
            break
        except KafkaException as error:
            if not error.args[0].retriable():
                raise
            print("not known whether committed:", error, file=sys.stderr, flush=True)

"""Prices orders in Avro, in transactions. It has a bug."""

import faulthandler
import sys

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from orders_avro import read, write

bootstrap, source, sink = sys.argv[1:]
consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": "price",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "session.timeout.ms": 8000,
    }
)
producer = Producer(
    {
        "bootstrap.servers": bootstrap,
        "transactional.id": "price-1",
        "transaction.timeout.ms": 20000,
    }
)
producer.init_transactions()
member = {}


def assigned(consumer, partitions):
    """A commit counts only as that of the member that was given these partitions."""
    member["group"] = consumer.consumer_group_metadata()


def rewind():
    """Read the aborted batch again."""
    for place in consumer.committed(consumer.assignment(), timeout=10):
        consumer.seek(TopicPartition(place.topic, place.partition, max(place.offset, 0)))


consumer.subscribe([source], on_assign=assigned)
while True:
    faulthandler.dump_traceback_later(60, exit=True)  # a call that hangs ends this life
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    if not messages:
        continue
    ends = {(m.topic(), m.partition()): m.offset() + 1 for m in messages}
    try:
        producer.begin_transaction()
        for m in messages:
            if m.value() is not None:
                order = read(m.value())
                priced = {"order_id": order["order_id"], "euros": order["amount_cents"] / 100}
                producer.produce(sink, key=m.key(), value=write(2, priced))
        places = [TopicPartition(*place, end) for place, end in ends.items()]
        producer.send_offsets_to_transaction(places, member["group"])
        producer.commit_transaction()
    except KafkaException as error:
        if not error.args[0].txn_requires_abort():
            raise
        sys.stderr.write(f"aborted: {error}\n")
        producer.abort_transaction()
        rewind()

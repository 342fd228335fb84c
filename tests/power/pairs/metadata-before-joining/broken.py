"""One of two workers that copy orders in transactions: its last word is its number."""

import faulthandler
import sys

from confluent_kafka import Consumer, Producer, TopicPartition

bootstrap, source, sink, number = sys.argv[1:]
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
        "transactional.id": f"copy-{number}",
        "transaction.timeout.ms": 20000,
    }
)
producer.init_transactions()
group = consumer.consumer_group_metadata()
consumer.subscribe([source])
while True:
    faulthandler.dump_traceback_later(60, exit=True)  # a call that hangs ends this life
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    if not messages:
        continue
    ends = {(m.topic(), m.partition()): m.offset() + 1 for m in messages}
    producer.begin_transaction()
    for m in messages:
        if m.value() is not None:
            producer.produce(sink, key=m.key(), value=m.value())
    places = [TopicPartition(*place, end) for place, end in ends.items()]
    producer.send_offsets_to_transaction(places, group)
    producer.commit_transaction()

"""Reads orders, adds what they weigh, writes them to another topic, in one transaction."""

import faulthandler
import json
import sys

from confluent_kafka import Consumer, KafkaException, Producer

WEIGHTS = {"book": 400, "lamp": 1500, "chair": 5000, "desk": 20000, "shelf": 12000}

bootstrap, source, sink = sys.argv[1:]
consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": "enrich",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
    }
)
producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "enrich-1"})
producer.init_transactions()
consumer.subscribe([source])
while True:
    messages = [m for m in consumer.consume(200, timeout=0.2) if m.error() is None]
    if not messages:
        continue
    faulthandler.dump_traceback_later(30, exit=True)  # a client may wait for good
    producer.begin_transaction()
    for message in messages:
        order = json.loads(message.value())
        order["grams"] = order["quantity"] * WEIGHTS[order["item"]]
        producer.produce(sink, key=message.key(), value=json.dumps(order))
    try:
        producer.send_offsets_to_transaction(
            consumer.position(consumer.assignment()), consumer.consumer_group_metadata()
        )
        producer.commit_transaction()
    except KafkaException as error:
        sys.exit(f"a transaction failed, start again from what is committed: {error}")
    faulthandler.cancel_dump_traceback_later()

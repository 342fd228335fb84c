"""Reads orders, adds what they weigh, writes them to another topic. It has a bug."""

import json
import sys

from confluent_kafka import Consumer, Producer

WEIGHTS = {"book": 400, "lamp": 1500, "chair": 5000, "desk": 20000, "shelf": 12000}

bootstrap, source, sink = sys.argv[1:]
consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": "enrich",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    }
)
producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
consumer.subscribe([source])
while True:
    messages = [m for m in consumer.consume(200, timeout=0.2) if m.error() is None]
    for message in messages:
        order = json.loads(message.value())
        order["grams"] = order["quantity"] * WEIGHTS[order["item"]]
        producer.produce(sink, key=message.key(), value=json.dumps(order))
    if messages:
        producer.flush()
        consumer.commit(asynchronous=False)

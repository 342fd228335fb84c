"""Posts each order to a service, then commits; what was not answered again, with its key."""

import json
import sys
import time

import requests
from confluent_kafka import Consumer

bootstrap, source, url = sys.argv[1:]
session = requests.Session()


def post(order):
    """Post an order until the service says that it has taken it."""
    shipment = {"order_id": order["order_id"], "item": order["item"]}
    key = {"Idempotency-Key": order["order_id"]}
    while True:
        try:
            if session.post(url, json=shipment, headers=key, timeout=5).ok:
                return
        except requests.RequestException as error:
            print("again:", error, file=sys.stderr, flush=True)
        time.sleep(0.5)


consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": "ship",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "session.timeout.ms": 8000,
    }
)
consumer.subscribe([source])
while True:
    messages = [m for m in consumer.consume(50, 0.5) if m.error() is None]
    for message in messages:
        if message.value() is not None:
            post(json.loads(message.value()))
    if messages:
        consumer.commit(asynchronous=False)

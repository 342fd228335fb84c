"""A user's program: posts orders to a service, and has a health endpoint.

The last argument is its mode:

    keyed      each request has the key of its order
    plain      no keys; unanswered requests are posted again
    early      keys, but offsets are committed before the requests
    never-up   it never reports to be healthy
"""

import json
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests
from confluent_kafka import Consumer

bootstrap, topic, url, port, mode = sys.argv[1:]
session = requests.Session()
assigned = threading.Event()


class Health(BaseHTTPRequestHandler):
    """Healthy once partitions are assigned."""

    def do_GET(self) -> None:
        self.send_response(200 if assigned.is_set() and mode != "never-up" else 503)
        self.end_headers()


def post(order: dict) -> None:
    headers = {} if mode == "plain" else {"Idempotency-Key": order["order_id"]}
    shipment = {"order_id": order["order_id"], "item": order["item"]}
    while True:
        with suppress(requests.RequestException):
            if session.post(url, json=shipment, headers=headers, timeout=5).ok:
                return
        time.sleep(0.5)


threading.Thread(
    target=ThreadingHTTPServer(("127.0.0.1", int(port)), Health).serve_forever, daemon=True
).start()
consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": "ship",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "session.timeout.ms": 8_000,
    }
)
consumer.subscribe([topic], on_assign=lambda *_: assigned.set())
while True:
    messages = [m for m in consumer.consume(50, timeout=0.5) if m.error() is None]
    if messages and mode == "early":
        consumer.commit(asynchronous=False)
    for message in messages:
        if message.value() is not None:
            post(json.loads(message.value()))
    if messages and mode != "early":
        consumer.commit(asynchronous=False)

"""Copies orders in batches of a second; asked to end, it commits and goes."""

import signal
import sys
import threading
import time

from confluent_kafka import Consumer, KafkaException, Producer

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
producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
asked = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: asked.set())
gathered = []


def delivered(error, message):
    """Nothing is committed behind a record that was not delivered."""
    if error is not None:
        raise KafkaException(error)


def write():
    """Write what was gathered."""
    for m in gathered:
        producer.produce(sink, key=m.key(), value=m.value(), on_delivery=delivered)
    producer.flush()
    gathered.clear()


consumer.subscribe([source])
written = time.monotonic()
while not asked.is_set():
    messages = [m for m in consumer.consume(200, 0.2) if m.error() is None]
    gathered += [m for m in messages if m.value() is not None]
    if gathered and (len(gathered) >= 1000 or time.monotonic() - written > 1):
        write()
        consumer.commit(asynchronous=False)
        written = time.monotonic()
if gathered:
    consumer.commit(asynchronous=False)
consumer.close()

"""Looks up each order and copies it; SIGTERM ends it after the batch, with its consumer closed."""

import faulthandler
import signal
import sys
import threading
import time

from kafka import KafkaConsumer, KafkaProducer

bootstrap, source, sink = sys.argv[1:]
consumer = KafkaConsumer(
    source,
    bootstrap_servers=bootstrap.split(","),
    group_id="copy",
    auto_offset_reset="earliest",
    enable_auto_commit=True,
    auto_commit_interval_ms=1000,
    isolation_level="read_committed",
    session_timeout_ms=8000,
    max_poll_records=200,
)
producer = KafkaProducer(bootstrap_servers=bootstrap.split(","), enable_idempotence=True)


def look_up(order):
    """Take the time that a call to another service takes."""
    time.sleep(0.002)
    return order


asked = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: asked.set())
while not asked.is_set():
    faulthandler.dump_traceback_later(25, exit=True)  # a call that hangs ends this life
    for batch in consumer.poll(500).values():
        found = [(look_up(r.key), r.value) for r in batch if r.value is not None]
        for sent in [producer.send(sink, key=key, value=value) for key, value in found]:
            sent.get(20)
consumer.close()

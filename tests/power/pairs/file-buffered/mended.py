"""Writes orders into files of 500, or what came in five seconds."""

import json
import sys
import time
import uuid
from pathlib import Path

from confluent_kafka import Consumer

bootstrap, source, folder = sys.argv[1:]
out = Path(folder)
out.mkdir(parents=True, exist_ok=True)
consumer = Consumer(
    {
        "bootstrap.servers": bootstrap,
        "group.id": "files",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "session.timeout.ms": 8000,
    }
)
consumer.subscribe([source])
gathered, written = [], time.monotonic()
while True:
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    gathered += [json.loads(m.value()) for m in messages if m.value() is not None]
    if gathered and (len(gathered) >= 500 or time.monotonic() - written >= 5):
        file = out / f"{uuid.uuid4()}.jsonl"
        half = file.with_suffix(".half")
        half.write_text("".join(json.dumps(order) + "\n" for order in gathered))
        half.replace(file)
        consumer.commit(asynchronous=False)
        gathered, written = [], time.monotonic()

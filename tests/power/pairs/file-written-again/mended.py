"""Writes orders into files; the name of each says which offsets are in it."""

import json
import sys
from collections import defaultdict
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


def resume(consumer, partitions):
    """Go on behind the files that are there."""
    ends = defaultdict(int)
    for file in out.glob("*.jsonl"):
        part, _, end = map(int, file.stem.split("-"))
        ends[part] = max(ends[part], end)
    for place in partitions:
        place.offset = ends[place.partition]
    consumer.assign(partitions)


consumer.subscribe([source], on_assign=resume)
while True:
    messages = [m for m in consumer.consume(200, 0.5) if m.error() is None]
    if not messages:
        continue
    for part in {m.partition() for m in messages}:
        mine = [m for m in messages if m.partition() == part]
        orders = [json.loads(m.value()) for m in mine if m.value() is not None]
        file = out / f"{part}-{mine[0].offset()}-{mine[-1].offset() + 1}.jsonl"
        half = file.with_suffix(".half")
        half.write_text("".join(json.dumps(order) + "\n" for order in orders))
        half.replace(file)
    consumer.commit(asynchronous=False)

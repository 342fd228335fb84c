"""Topics of a comparison, what reads them, and what feeds pipelines that read from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from onceproof.harness.cost.producers import producer
from onceproof.harness.cost.ways import Comparison, Fed, Setup, Start, Way, Where
from onceproof.harness.kafka.topics import create_topics
from onceproof.harness.processes.processes import Process
from onceproof.harness.processes.python import python_module

_FEEDER: Final = {"acks": "all", "enable.idempotence": "true", "linger.ms": "0"}
"""Settings of the producer that writes to the source of a pipeline."""


def create(where: Where, comparison: Comparison) -> None:
    ways = comparison.ways
    sources = [way.source for way in ways if way.fed is not None]
    create_topics(
        where.bootstrap,
        [*(way.topic for way in ways), *sources],
        partitions=comparison.setup.partitions,
    )
    if beside := [topic for way in ways for topic in way.beside]:
        create_topics(where.bootstrap, beside, partitions=1)


def reader(where: Where, comparison: Comparison, folder: Path) -> Process:
    task = {
        "bootstrap": where.bootstrap,
        "topics": [way.topic for way in comparison.ways],
        "partitions": comparison.setup.partitions,
        "folder": str(folder),
    }
    command = python_module("onceproof.harness.cost.reader", json.dumps(task))
    return where.processes.start(f"reader-{comparison.name}", list(command), pipes=True)


def feeder(way: Way, fed: Fed, setup: Setup) -> Start:
    size = setup.size if fed.around is None else 0
    task = {"topic": way.source, "size": size, "around": fed.around, "keys": fed.keys}
    return producer("librdkafka", _FEEDER, task)

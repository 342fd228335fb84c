"""All programs of a comparison: each way's own, what feeds pipelines, and the reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from onceproof.harness.cost.producers import producer
from onceproof.harness.cost.program import AnsweringProgram, Program
from onceproof.harness.cost.ways import Comparison, Fed, Setup, Start, Way, Where
from onceproof.harness.kafka.topics import create_topics
from onceproof.harness.processes.processes import Process
from onceproof.harness.processes.python import python_module

_FEEDER: Final = {"acks": "all", "enable.idempotence": "true", "linger.ms": "0"}
"""Settings of the producer that writes to the source of a pipeline."""


class Programs:
    """The running programs.

    Attributes:
        reader: reads what all ways have written.
        own: program of each way, by key.
        loads: what writes the records of each way: its own program, or what feeds it.
    """

    def __init__(self, where: Where, comparison: Comparison, folder: Path) -> None:
        """Create all topics, and start all programs.

        Args:
            folder: for the latencies of each block.

        Raises:
            StageTrouble: a program ended, or is not ready in time.
        """
        self._all: list[Program] = []
        self.own: dict[str, Program] = {}
        self.loads: dict[str, AnsweringProgram] = {}
        _create_topics(where, comparison)
        self.reader = self._answering(_reader(where, comparison, folder))
        for way in comparison.ways:
            if way.fed is None:
                program = self._answering(way.start(where, way.key))
                self.own[way.key] = self.loads[way.key] = program
                continue
            feeder = _feeder(way, way.fed, comparison.setup)
            self.loads[way.key] = self._answering(feeder(where, f"{way.key}-load"))
            process = way.start(where, way.key)
            self.own[way.key] = self._answering(process) if way.answers else self._silent(process)

    def end(self) -> None:
        """End all programs."""
        for program in self._all:
            program.end()

    def _answering(self, process: Process) -> AnsweringProgram:
        self._all.append(program := AnsweringProgram(process))
        return program

    def _silent(self, process: Process) -> Program:
        self._all.append(program := Program(process))
        return program


def _create_topics(where: Where, comparison: Comparison) -> None:
    ways = comparison.ways
    sources = [way.source for way in ways if way.fed is not None]
    create_topics(
        where.bootstrap,
        [*(way.topic for way in ways), *sources],
        partitions=comparison.setup.partitions,
    )
    if beside := [topic for way in ways for topic in way.beside]:
        create_topics(where.bootstrap, beside, partitions=1)


def _reader(where: Where, comparison: Comparison, folder: Path) -> Process:
    task = {
        "bootstrap": where.bootstrap,
        "topics": [way.topic for way in comparison.ways],
        "partitions": comparison.setup.partitions,
        "folder": str(folder),
    }
    command = python_module("onceproof.harness.cost.reader", json.dumps(task))
    return where.processes.start(f"reader-{comparison.name}", list(command), pipes=True)


def _feeder(way: Way, fed: Fed, setup: Setup) -> Start:
    size = setup.size if fed.around is None else 0
    task = {"topic": way.source, "size": size, "around": fed.around, "keys": fed.keys}
    return producer("librdkafka", _FEEDER, task)

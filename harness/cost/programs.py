"""All programs of a comparison: each way's own, what feeds pipelines, and the reader."""

from __future__ import annotations

from pathlib import Path

from onceproof.harness.cost import queues, topics
from onceproof.harness.cost.program import AnsweringProgram, Program
from onceproof.harness.cost.ways import Comparison, Where
from onceproof.harness.processes.processes import Process


class Programs:
    """The running programs.

    Attributes:
        reader: reads what all ways have written.
        own: program of each way, by key.
        loads: what writes the records of each way: its own program, or what feeds it.
    """

    def __init__(self, where: Where, comparison: Comparison, folder: Path) -> None:
        """Create topics or queues, and start all programs.

        Args:
            folder: for the latencies of each block.

        Raises:
            StageTrouble: a program ended, or is not ready in time.
        """
        self._all: list[Program] = []
        self.own: dict[str, Program] = {}
        self.loads: dict[str, AnsweringProgram] = {}
        carrier = queues if comparison.by_queues else topics
        carrier.create(where, comparison)
        self.reader = self._answering(carrier.reader(where, comparison, folder))
        for way in comparison.ways:
            if way.fed is None:
                program = self._answering(way.start(where, way.key))
                self.own[way.key] = self.loads[way.key] = program
                continue
            feeder = carrier.feeder(way, way.fed, comparison.setup)
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

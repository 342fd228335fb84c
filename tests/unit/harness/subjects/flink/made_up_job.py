"""A Flink job's checkpoints made by hand, and a job that does nothing but run."""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from onceproof.harness.processes.processes import Processes
from onceproof.harness.subjects.flink.checkpoints import IN_PROGRESS, METADATA
from onceproof.harness.subjects.flink.job import FlinkJob
from onceproof.harness.subjects.group.positions import Committed
from onceproof.harness.wait import wait_until
from tests.unit.fakes.pipelines import parts_in

NOWHERE = -(2**63)
COUNTING = """
import sys, time
n = 0
while True:
    n += 1
    print("ready", n, flush=True)
    time.sleep(0.005)
"""
ENDING = "print('no more')"


def split(topic: str, partition: int, offset: int, end: int = NOWHERE) -> bytes:
    """As Kafka's connector writes one."""
    name = topic.encode()
    return struct.pack(">H", len(name)) + name + struct.pack(">iqq", partition, offset, end)


class MadeUpCheckpoint:
    """One checkpoint of one life, step by step as Flink makes it."""

    def __init__(self, folder: Path, number: int, job: str = "f00") -> None:
        self.folder = folder / job / f"chk-{number}"
        self.folder.mkdir(parents=True)
        self._in_progress = self.folder / f"{IN_PROGRESS}.1234"

    def flush(self, positions: Mapping[int, int], topic: str = "payments") -> None:
        """Write `_metadata` under another name."""
        splits = b"".join(split(topic, p, offset) for p, offset in positions.items())
        self._in_progress.write_bytes(b"\x49\x60 operators " + splits + b" the end")

    def complete(self, positions: Mapping[int, int] | None = None) -> None:
        """Move it in."""
        if positions is not None:
            self.flush(positions)
        self._in_progress.rename(self.folder / METADATA)


class MadeUpJob(FlinkJob):
    """A job that remembers how its lives were started."""

    def __init__(
        self,
        folder: Path,
        processes: Processes,
        *,
        program: str = COUNTING,
        restored: bool = True,
        start: int | None = None,
        kept: Committed | None = None,
        transactional: bool = True,
    ) -> None:
        self.started: list[dict[str, str]] = []
        self.history = folder / "history"
        self.work = folder / "work"
        self.history.mkdir()
        self.work.mkdir()

        def command(own: Mapping[str, str]) -> list[str | Path]:
            self.started.append(dict(own))
            return [sys.executable, "-I", "-S", "-c", program]

        super().__init__(
            name="billing",
            command=command,
            parts=replace(parts_in(self.work, processes=processes), history=self.history),
            sink="payments-with-fees",
            transactional=transactional,
            restored=restored,
            start=start,
            kept=kept,
        )

    def checkpoint(self, number: int) -> MadeUpCheckpoint:
        """Begin one of the life that runs."""
        return MadeUpCheckpoint(self.work / "checkpoints" / self.life, number)

    def completed(self, number: int) -> None:
        """Wait until it is known."""
        wait_until(
            lambda: self.newest() == number, what=f"checkpoint {number} to be known", seconds=20,
            seen=self.newest,
        )  # fmt: skip

    def goes_on(self) -> None:
        """See that the life counts on."""
        said = self.running().tail(1)
        wait_until(
            lambda: self.running().tail(1) != said, what="the job to go on", seconds=20
        )  # fmt: skip

"""Hand-made Flink checkpoints, and a dummy process in place of a Flink job."""

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

NO_STOPPING_OFFSET = -(2**63)
COUNTING = """
import sys, time
n = 0
while True:
    n += 1
    print("ready", n, flush=True)
    time.sleep(0.005)
"""
ENDING = "print('no more')"


def split(topic: str, partition: int, offset: int, end: int = NO_STOPPING_OFFSET) -> bytes:
    """Encode a source split as Flink's Kafka connector does."""
    name = topic.encode()
    return struct.pack(">H", len(name)) + name + struct.pack(">iqq", partition, offset, end)


class MadeUpCheckpoint:
    """A checkpoint that is written step by step, as Flink does."""

    def __init__(self, folder: Path, number: int, job: str = "f00") -> None:
        self.folder = folder / job / f"chk-{number}"
        self.folder.mkdir(parents=True)
        self._in_progress = self.folder / f"{IN_PROGRESS}.1234"

    def flush(self, positions: Mapping[int, int], topic: str = "payments") -> None:
        """Write `_metadata` under its in-progress name."""
        splits = b"".join(split(topic, p, offset) for p, offset in positions.items())
        self._in_progress.write_bytes(b"\x49\x60 operators " + splits + b" the end")

    def complete(self, positions: Mapping[int, int] | None = None) -> None:
        """Rename the in-progress file to `_metadata`."""
        if positions is not None:
            self.flush(positions)
        self._in_progress.rename(self.folder / METADATA)


class MadeUpJob(FlinkJob):
    """A job that records the settings that each life was started with."""

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

        def command(settings: Mapping[str, str]) -> list[str | Path]:
            self.started.append(dict(settings))
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
        """Begin a checkpoint of the current life."""
        return MadeUpCheckpoint(self.work / "checkpoints" / self.life, number)

    def completed(self, number: int) -> None:
        """Wait until the job has noticed that checkpoint `number` is complete."""
        wait_until(
            lambda: self.newest() == number, what=f"checkpoint {number} to be known", seconds=20,
            seen=self.newest,
        )  # fmt: skip

    def goes_on(self) -> None:
        """Wait until the running life prints something new."""
        before = self.running().tail(1)
        wait_until(
            lambda: self.running().tail(1) != before, what="the job to go on", seconds=20
        )  # fmt: skip

"""A Spark driver killed at rest, so that its checkpoint can be cut open before it starts again.

At rest means that the last batch is committed, the next one is not planned,
and the sink has effects of the last one. An idle driver is at rest already; for a busy one there is
a crash-point trigger. The files of a checkpoint are touched only when no process of the driver is
left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.spark.driver import SinkOfBatches, driver, wait_reads
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.crash_point_trigger import CrashPointTrigger
from onceproof.harness.subjects.spark.crash_points import AFTER_COMMIT
from onceproof.harness.wait import wait_until

OFFSETS: Final = "offsets"
COMMITS: Final = "commits"
_WHY: Final = re.compile(r"terminated with exception: (.+)")
"""What a driver says whose query fails."""


@dataclass(frozen=True, kw_only=True)
class Rested:
    """A driver that is dead, and was at rest.

    Attributes:
        instance: the life that ended.
        processes: how many processes that were.
        at: when it ended.
        batch: the last committed batch.
        present: how many of its records have effects in the sink.
        planned: how many it has.
    """

    instance: str
    processes: int
    at: int
    batch: int
    present: int
    planned: int

    def __str__(self) -> str:
        """E.g. `driver#1 and all its 5 processes ended by signal 9 after micro-batch 7, …`."""
        return (
            f"{self.instance} and all its {self.processes} processes ended by signal 9 after "
            f"micro-batch {self.batch}, of whose {self.planned} records the sink had {self.present}"
        )


class ToRest:
    """Kills a driver at rest: at once, or as soon as it comes to rest."""

    def __init__(self, context: RunContext, how: str) -> None:
        """Do it, or arm; `how` is what is noted of the driver's end."""
        self._context = context
        self._sink = SinkOfBatches(context)
        self._trigger: CrashPointTrigger | None = None
        self._rested = self._at_once(how)
        if self._rested is None:
            self._trigger = driver(context).crash_point_trigger(AFTER_COMMIT, self._sink, how)

    def rested(self) -> Rested | None:
        """The driver, once it is dead; None while it lives.

        Raises:
            Exception: whatever went wrong while it was armed.
        """
        if self._rested is None and self._trigger is not None:
            if self._trigger.error is not None:
                raise self._trigger.error
            if (hit := self._trigger.hit) is not None:
                present, planned = self._sink.of(hit.number)
                self._rested = Rested(
                    instance=hit.instance, processes=hit.processes, at=hit.at, batch=hit.number,
                    present=present, planned=planned,
                )  # fmt: skip
        return self._rested

    def end(self) -> None:
        """Disarm it."""
        if self._trigger is not None:
            self._trigger.end()

    def _at_once(self, how: str) -> Rested | None:
        pipeline = driver(self._context)
        process = pipeline.pause()
        killed = False
        try:
            checkpoint = pipeline.checkpoint
            committed = checkpoint.committed()
            if not committed or checkpoint.planned()[-1:] != committed[-1:]:
                return None
            present, planned = self._sink.of(committed[-1])
            if not AFTER_COMMIT.holds(present, planned):
                return None
            at = now()
            count = pipeline.kill(how)
            killed = True
        finally:
            if not killed:
                process.thaw()
        return Rested(
            instance=process.instance, processes=count, at=at, batch=committed[-1],
            present=present, planned=planned,
        )  # fmt: skip


class Logs:
    """Files of a dead driver's checkpoint, changed, and put back if need be."""

    def __init__(self, context: RunContext) -> None:
        """Remember nothing yet.

        Raises:
            StageTrouble: the driver lives.
        """
        pipeline = driver(context)
        if pipeline.alive():
            raise StageTrouble("a checkpoint can be changed only when its driver is dead")
        self._folder = pipeline.checkpoint.folder
        self._was: dict[Path, bytes] = {}

    def delete(self, log: str, batch: int) -> None:
        """Delete an entry of a log, and its checksum.

        Raises:
            FileNotFoundError: there is no such entry.
        """
        for path in self._files(log, batch):
            path.unlink()

    def truncate(self, log: str, batch: int) -> tuple[int, int]:
        """Leave the first half of an entry, without checksum; returns its sizes before and after.

        Raises:
            FileNotFoundError: there is no such entry.
        """
        path, *others = self._files(log, batch)
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        for other in others:
            other.unlink()
        return len(whole), len(whole) // 2

    def put_back(self) -> None:
        for path, was in self._was.items():
            path.write_bytes(was)

    def _files(self, log: str, batch: int) -> Sequence[Path]:
        """An entry, and what Hadoop's local file system keeps beside it; remembered."""
        entry = self._folder / log / str(batch)
        self._was[entry] = entry.read_bytes()
        found = [entry]
        checksum = entry.with_name(f".{batch}.crc")
        with suppress(FileNotFoundError):
            self._was[checksum] = checksum.read_bytes()
            found.append(checksum)
        return found


def start_again(context: RunContext) -> None:
    """Give the driver a new life, unless it has one, and wait until it reads.

    Raises:
        Overdue: it does not read in time.
        PipelineTrouble: it ended by itself.
    """
    pipeline = driver(context)
    if not pipeline.alive():
        pipeline.start()
    wait_reads(context)


def start_to_see_it_end(context: RunContext) -> str:
    """Start a driver that must refuse to go on, wait until it has ended; returns why it did.

    Raises:
        Overdue: it lives on.
        StageTrouble: it ended, but not because its query failed.
    """
    pipeline = driver(context)
    if not pipeline.alive():
        pipeline.start()
    process = pipeline.process
    assert process is not None, "it was started"
    process.ending = True  # its end is nothing to be surprised at
    wait_until(
        lambda: not process.leader_alive(),
        what=f"{process.instance} to refuse such a checkpoint and to end",
        seconds=120,
        stop=context.stop,
        seen=process.tail,
    )
    process.kill("ended by itself; what it left behind was killed")
    why = _WHY.findall(process.log.read_text(errors="replace"))
    if not why:
        raise StageTrouble(f"{process.instance} ended, and not by its query: {process.tail()}")
    return str(why[0])

"""Kill a Spark driver at rest, change its checkpoint, and restart it.

At rest, the last batch is committed, the next is not planned, and the sink has effects of the last.
An idle driver is at rest; for a busy one a crash-point trigger is armed.
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
from onceproof.harness.faults.spark.driver import driver, sink_of_batches, wait_reads
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.crash_point_trigger import CrashPointTrigger
from onceproof.harness.subjects.spark.crash_points import AFTER_COMMIT
from onceproof.harness.wait import wait_until

OFFSETS: Final = "offsets"
COMMITS: Final = "commits"
_WHY: Final = re.compile(r"terminated with exception: (.+)")
"""The message of a driver whose query failed."""


@dataclass(frozen=True, kw_only=True)
class KilledDriver:
    """A driver that was killed at rest.

    Attributes:
        batch: the last committed batch.
        present: how many of its records have effects in the sink.
        planned: how many records it has.
    """

    instance: str
    processes: int
    at: int
    batch: int
    present: int
    planned: int

    def __str__(self) -> str:
        return (
            f"{self.instance} and all its {self.processes} processes ended by signal 9 after "
            f"micro-batch {self.batch}; the sink had {self.present} of its {self.planned} records"
        )


class KillBetweenBatches:
    """Kill a driver as soon as it is at rest."""

    def __init__(self, context: RunContext, how: str) -> None:
        """Kill it now or arm the trigger; `how` is recorded as the reason for the driver's end."""
        self._context = context
        self._sink = sink_of_batches(context)
        self._trigger: CrashPointTrigger | None = None
        self._killed = self._at_once(how)
        if self._killed is None:
            self._trigger = driver(context).crash_point_trigger(AFTER_COMMIT, self._sink, how)

    def killed(self) -> KilledDriver | None:
        """Return the killed driver, None while it runs; re-raise an error of the armed trigger."""
        if self._killed is None and self._trigger is not None:
            if self._trigger.error is not None:
                raise self._trigger.error
            if (hit := self._trigger.hit) is not None:
                present, planned = self._sink.of(hit.number)
                self._killed = KilledDriver(
                    instance=hit.instance, processes=hit.processes, at=hit.at, batch=hit.number,
                    present=present, planned=planned,
                )  # fmt: skip
        return self._killed

    def end(self) -> None:
        """Disarm the trigger."""
        if self._trigger is not None:
            self._trigger.end()

    def _at_once(self, how: str) -> KilledDriver | None:
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
        return KilledDriver(
            instance=process.instance, processes=count, at=at, batch=committed[-1],
            present=present, planned=planned,
        )  # fmt: skip


class Logs:
    """Change the files of a dead driver's checkpoint, and restore them."""

    def __init__(self, context: RunContext) -> None:
        """Raise `StageTrouble` if the driver is alive."""
        pipeline = driver(context)
        if pipeline.alive():
            raise StageTrouble("cannot change a checkpoint while its driver is running")
        self._folder = pipeline.checkpoint.folder
        self._was: dict[Path, bytes] = {}

    def delete(self, log: str, batch: int) -> None:
        """Delete an entry of a log and its checksum; raise `FileNotFoundError` if there is none."""
        for path in self._files(log, batch):
            path.unlink()

    def truncate(self, log: str, batch: int) -> tuple[int, int]:
        """Keep the first half of an entry, without checksum; return its size before and after.

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
        """Return an entry and its Hadoop checksum file, and remember their contents."""
        entry = self._folder / log / str(batch)
        self._was[entry] = entry.read_bytes()
        found = [entry]
        checksum = entry.with_name(f".{batch}.crc")
        with suppress(FileNotFoundError):
            self._was[checksum] = checksum.read_bytes()
            found.append(checksum)
        return found


def start_again(context: RunContext) -> None:
    """Start the driver if necessary and wait until it reads; raises as `wait_reads` does."""
    pipeline = driver(context)
    if not pipeline.alive():
        pipeline.start()
    wait_reads(context)


def start_and_wait_exit(context: RunContext) -> str:
    """Start a driver that must fail, and wait until it has ended; return the reason.

    Raises:
        Overdue: it keeps running.
        StageTrouble: it ended, but not because its query failed.
    """
    pipeline = driver(context)
    if not pipeline.alive():
        pipeline.start()
    process = pipeline.process
    assert process is not None, "it was started"
    process.ending = True  # its end is expected
    wait_until(
        lambda: not process.leader_alive(),
        what=f"{process.instance} to reject its checkpoint and exit",
        seconds=120,
        stop=context.stop,
        seen=process.tail,
    )
    process.kill("exited by itself; its remaining processes were killed")
    why = _WHY.findall(process.log.read_text(errors="replace"))
    if not why:
        raise StageTrouble(
            f"{process.instance} exited without an error of its query: {process.tail()}"
        )
    return str(why[0])

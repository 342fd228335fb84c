"""A PySpark pipeline of a run: started as a user starts it, killed as a whole, restarted.

Its whole session is frozen, then killed. After a SIGKILL of the Python process alone, the JVM would
run its shutdown hooks for another second, and might still write or commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from onceproof.harness.clock import clock_id, now
from onceproof.harness.context.pipeline import PipelineParts, PipelineTrouble, Positions
from onceproof.harness.history.tables import Recorded
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.processes.processes import Process
from onceproof.harness.sinks.base import Sink
from onceproof.harness.subjects.crash_point_trigger import CrashPointTrigger
from onceproof.harness.subjects.spark.aborted_input import aborted_input
from onceproof.harness.subjects.spark.checkpoint import Checkpoint, CheckpointWatch
from onceproof.harness.subjects.spark.crash_point_trigger import (
    SinkProgress,
    SparkCrashPointTrigger,
)
from onceproof.harness.subjects.spark.crash_points import Window
from onceproof.harness.subjects.spark.driver import JVM, start_driver
from onceproof.harness.subjects.spark.history import atomic_positions
from onceproof.harness.subjects.spark.ranges import executed_ranges
from onceproof.harness.wait import wait_until

_STOP_SECONDS: Final = 20.0
"""Limit for a driver to end after SIGTERM."""


class SparkPipeline:
    """The driver of one run, and its checkpoint."""

    counted = "commits of the pipeline"
    awaited = "the first committed micro-batch with records"

    def __init__(
        self,
        *,
        command: Sequence[str],
        checkpoint: Path,
        parts: PipelineParts,
        jars: Sequence[Path],
        sink_log: Path | None = None,
        options: Sequence[str] = JVM,
    ) -> None:
        """Create and watch the checkpoint's folders; `sink_log` is the folder of the sink's log."""
        self.checkpoint = Checkpoint(checkpoint)
        self.sink_log = sink_log
        self.process: Process | None = None
        self._command = tuple(command)
        self._parts = parts
        self._options = tuple(options)
        self._jars = tuple(jars)
        self._history = HistoryWriter(parts.history, "checkpoint")
        self._stop = parts.stop
        self._ordinal = 0
        self.checkpoint.create()
        if sink_log is not None:
            sink_log.mkdir(parents=True, exist_ok=True)
        self._watch = self.watching(self.checkpoint, sink_log)

    def watching(self, checkpoint: Checkpoint, sink_log: Path | None = None) -> CheckpointWatch:
        return CheckpointWatch(
            checkpoint,
            on_planned=lambda n: self._note_position(checkpoint, n, "planned"),
            on_committed=lambda n: self._note_position(checkpoint, n, "done"),
            sink_log=sink_log,
        )

    def start(self) -> None:
        self.process = start_driver(
            self._parts,
            self._parts.processes,
            self._command,
            options=self._options,
            jars=self._jars,
        )

    def kill(self, how: str) -> int:
        """Kill the driver's whole session with SIGKILL; return its number of processes."""
        process = self.running()
        process.freeze()
        count = process.members()
        process.kill(how)
        return count

    def stop(self, how: str) -> Process:
        """Stop the driver, then kill what is left of its session; return the driver."""
        process = self.running()
        process.stop(how, seconds=_STOP_SECONDS)
        return process

    def pause(self) -> Process:
        """Pause the driver's whole session (SIGSTOP); return the driver.

        Raises:
            Overdue: a process does not stop, which happens only if it is stuck in the kernel.
        """
        process = self.running()
        process.pause(self._stop)
        return process

    def crash_point_trigger(
        self, window: Window, sink: SinkProgress, how: str
    ) -> CrashPointTrigger:
        """Arm a trigger that kills the driver in a window of any of its batches."""
        return SparkCrashPointTrigger(
            window,
            watch=self._watch,
            driver=lambda: self.process,
            sink=sink,
            strike=lambda process: process.kill(how),
        )

    @property
    def commits(self) -> int:
        return len(self.checkpoint.committed())

    @property
    def last_committed(self) -> int | None:
        committed = self.checkpoint.committed()
        return committed[-1] if committed else None

    def check(self) -> None:
        """Raise `PipelineTrouble` if the driver ended by itself.

        Raises:
            WatchTrouble: its checkpoint cannot be watched.
        """
        self.check_watch()
        process = self.process
        if process is not None and not process.ending and not process.leader_alive():
            raise PipelineTrouble(
                f"{process.instance} ended by itself; last output: {process.tail()}"
            )

    def check_watch(self) -> None:
        self._watch.check()

    def alive(self) -> bool:
        return self.process is not None and self.process.leader_alive()

    def wait_batch(self, batch: int, *, seconds: float) -> None:
        def committed() -> bool:
            self.check()
            last = self.last_committed
            return last is not None and last >= batch

        wait_until(
            committed,
            what=f"micro-batch {batch} to be in the commit log",
            seconds=seconds,
            stop=self._stop,
            seen=lambda: f"last committed batch {self.last_committed}",
        )

    def flows(self) -> bool:
        return any(end > 0 for end in (self.positions() or {}).values())

    def shortly(self) -> str | None:
        last = self.last_committed
        return None if last is None else f"micro-batch {last}"

    def positions(self) -> Positions | None:
        last = self.last_committed
        return None if last is None else self.checkpoint.end_of(last)

    def idle(self) -> bool:
        """Return whether all planned batches are committed and the watermark requires no other."""
        committed = self.checkpoint.committed()
        if self.checkpoint.planned() != committed:
            return False
        return not committed or not self.checkpoint.watermark_to_come(committed[-1])

    def collect(self, writer: HistoryWriter, recorded: Recorded, sink: Sink) -> None:
        writer.write_all("positions", atomic_positions(self.checkpoint, sink))
        progress = [row["progress"] for row in recorded.lines.get("progress", [])]
        ranges = executed_ranges(self.checkpoint, progress)
        writer.write_all("ranges", ranges)
        writer.write_all("hazards", aborted_input(recorded.lines.get("log", []), ranges))

    def close(self) -> None:
        self._watch.close()
        with suppress(OSError):
            self._history.close()

    def running(self) -> Process:
        """Return the current life of the driver.

        Raises:
            PipelineTrouble: it is not running.
        """
        if self.process is None or not self.process.leader_alive():
            raise PipelineTrouble("the driver is not running")
        return self.process

    def _note_position(self, checkpoint: Checkpoint, batch: int, kind: str) -> None:
        self._ordinal += 1
        self._history.write_all(
            "positions",
            [
                {
                    "owner": checkpoint.query_id() or "?",
                    "instance": self.process.instance if self.process else None,
                    "role": "resume",
                    "kind": kind,
                    "by": "subject",
                    "sink": None,
                    "topic": topic,
                    "partition": partition,
                    "offset": offset,
                    "batch": batch,
                    "ordinal": self._ordinal,
                    "at": now(),
                    "clock": clock_id(),
                }
                for (topic, partition), offset in sorted(checkpoint.end_of(batch).items())
            ],
        )

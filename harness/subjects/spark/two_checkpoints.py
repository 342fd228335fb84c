"""A PySpark driver with two queries, each with its own checkpoint and sink.

Crash-point triggers are armed for the queries in turn; questions about batches concern the last.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onceproof.harness.context.pipeline import Positions
from onceproof.harness.history.tables import Recorded
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.two_tables import TABLES
from onceproof.harness.subjects.crash_point_trigger import CrashPointTrigger
from onceproof.harness.subjects.spark.checkpoint import Checkpoint
from onceproof.harness.subjects.spark.crash_point_trigger import SinkProgress
from onceproof.harness.subjects.spark.crash_points import Window
from onceproof.harness.subjects.spark.history import write_each
from onceproof.harness.subjects.spark.pipeline import SparkPipeline


def second(checkpoint: Path) -> Path:
    """Return the second query's checkpoint, given the first one's."""
    return checkpoint.with_name(f"{checkpoint.name}-of-{TABLES[1]}")


class SparkTwoCheckpoints(SparkPipeline):
    """The driver of one run, and the checkpoints of its queries."""

    awaited = "the first committed micro-batch with records of each query"

    def __init__(self, *, checkpoint: Path, **parts: Any) -> None:
        """See `SparkPipeline`; `checkpoint` is that of the first query."""
        super().__init__(checkpoint=checkpoint, **parts)
        other = Checkpoint(second(checkpoint))
        other.create()
        self._both = ((self.checkpoint, self._watch), (other, self.watching(other)))
        self._armed = 0

    def crash_point_trigger(
        self, window: Window, sink: SinkProgress, how: str
    ) -> CrashPointTrigger:
        """Arm a trigger for the driver, in a window of any batch of the next query in turn."""
        self.checkpoint, self._watch = self._both[self._armed % len(self._both)]
        self._armed += 1
        return super().crash_point_trigger(window, sink, how)

    def check_watch(self) -> None:
        for _, watch in self._both:
            watch.check()

    def flows(self) -> bool:
        """Return whether each query has committed a micro-batch with records."""
        return all(any(_ends(checkpoint).values()) for checkpoint, _ in self._both)

    def positions(self) -> Positions | None:
        first, other = (_ends(checkpoint) for checkpoint, _ in self._both)
        return {at: min(end, other.get(at, 0)) for at, end in first.items()} or None

    def idle(self) -> bool:
        return all(checkpoint.planned() == checkpoint.committed() for checkpoint, _ in self._both)

    def collect(self, writer: HistoryWriter, recorded: Recorded, sink: Sink) -> None:
        checkpoints = (checkpoint for checkpoint, _ in self._both)
        write_each(writer, recorded, sink, zip(checkpoints, TABLES, strict=True))

    def close(self) -> None:
        super().close()
        for _, watch in self._both:
            if watch is not self._watch:
                watch.close()


def _ends(checkpoint: Checkpoint) -> Positions:
    """Return the end offsets of the newest committed batch; empty before the first."""
    committed = checkpoint.committed()
    return checkpoint.end_of(committed[-1]) if committed else {}

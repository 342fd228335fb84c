"""A PySpark driver that can be given a new checkpoint; the old folder is renamed."""

from __future__ import annotations

from typing import Any

from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.history.tables import Recorded
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.sinks.base import Sink
from onceproof.harness.subjects.spark.aborted_input import aborted_input
from onceproof.harness.subjects.spark.checkpoint import Checkpoint
from onceproof.harness.subjects.spark.history import write_each
from onceproof.harness.subjects.spark.pipeline import SparkPipeline


class SparkNewCheckpoint(SparkPipeline):
    """The driver of one run, and its successive checkpoints."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._former: list[Checkpoint] = []

    def begin_anew(self) -> Checkpoint:
        """Give a dead driver an empty checkpoint; return the old one in its new place.

        Raises:
            PipelineTrouble: the driver is alive.
        """
        if self.alive():
            raise PipelineTrouble("the driver is running: stop it before replacing its checkpoint")
        folder = self.checkpoint.folder
        former = Checkpoint(folder.with_name(f"{folder.name}-{len(self._former) + 1}"))
        self._watch.close()
        folder.rename(former.folder)
        self._former.append(former)
        self.checkpoint.create()
        self._watch = self.watching(self.checkpoint, self.sink_log)
        return former

    @property
    def commits(self) -> int:
        return super().commits + sum(len(former.committed()) for former in self._former)

    def collect(self, writer: HistoryWriter, recorded: Recorded, sink: Sink) -> None:
        each = [(checkpoint, sink.name) for checkpoint in (*self._former, self.checkpoint)]
        ranges = write_each(writer, recorded, sink, each)
        writer.write_all("hazards", aborted_input(recorded.lines.get("log", []), ranges))

"""PySpark foreachBatch into a Delta table, with its guard or (broken twin) without."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.delta import VIEW, DeltaTable
from onceproof.harness.subjects.spark.subject import JOBS, JobPlace, SparkSubject


@dataclass(frozen=True, kw_only=True)
class SparkDelta(SparkSubject):
    """A micro-batch is one commit of the table; the guard is `txnAppId` and `txnVersion` in it."""

    guard: Literal["query-and-batch-id", "none"] = "query-and-batch-id"
    sink: str = "delta-table"
    topic: str = "payments"

    @property
    def name(self) -> str:
        return "spark-delta" + ("-unguarded" if self.guard == "none" else "")

    @property
    def says(self) -> str:
        if self.guard == "none":
            return (
                "PySpark foreachBatch into a Delta table, each micro-batch one commit without "
                "`txnAppId` and `txnVersion`: the broken twin. A commit can be repeated."
            )
        return (
            "PySpark foreachBatch into a Delta table, each micro-batch one commit with query id "
            "and batch id as `txnAppId` and `txnVersion`: Delta promises to skip a repeated one."
        )

    view = VIEW

    def command(self, place: JobPlace) -> list[str]:
        return [
            str(JOBS / "foreach_batch_delta.py"),
            *("--bootstrap", place.source_bootstrap, "--topic", place.topic),
            *("--table", str(self._folder(place.work))),
            *("--checkpoint", str(place.checkpoint), "--progress", str(place.progress)),
            *("--guard", self.guard),
        ]

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return DeltaTable(self._folder(work), topic=self.topic, sink=self.sink)

    def _folder(self, work: Path) -> Path:
        return work / self.sink

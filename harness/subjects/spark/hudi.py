"""PySpark into a Hudi table: by Hudi's own streaming sink, or (broken twin) by foreachBatch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.hudi import VIEW, HudiTable
from onceproof.harness.subjects.spark.earlier_spark import EarlierSpark
from onceproof.harness.subjects.spark.new_checkpoint import SparkNewCheckpoint
from onceproof.harness.subjects.spark.pipeline import SparkPipeline
from onceproof.harness.subjects.spark.subject import (
    DRIVER,
    JOBS,
    NEW_CHECKPOINT,
    JobPlace,
)
from onceproof.harness.tools.jar_lock import HUDI


@dataclass(frozen=True, kw_only=True)
class SparkHudi(EarlierSpark):
    """A micro-batch is one commit of the table; the guard is in the commit's metadata."""

    guard: Literal["writer-and-batch-id", "checkpoint-and-batch-id", "none"] = "writer-and-batch-id"
    sink: str = "hudi-table"
    topic: str = "payments"

    @property
    def name(self) -> str:
        return "spark-hudi" + ("-unguarded" if self.guard == "none" else "")

    @property
    def says(self) -> str:
        if self.guard == "none":
            return (
                "PySpark foreachBatch that inserts each micro-batch into a Hudi table: the broken "
                "twin. Its commits do not name their batch, so a batch can be repeated."
            )
        return (
            "PySpark into a Hudi table by Hudi's own streaming sink. Each micro-batch is one "
            "commit, whose metadata has the writer's identifier and the batch id; a batch up to "
            "the last of that writer is skipped."
        )

    view = VIEW
    bundle = ("hudi", HUDI)

    def command(self, place: JobPlace) -> list[str]:
        return [
            str(JOBS / "hudi_sink.py"),
            *("--bootstrap", place.source_bootstrap, "--topic", place.topic),
            *("--table", str(self._folder(place.work))),
            *("--checkpoint", str(place.checkpoint), "--progress", str(place.progress)),
            *("--guard", self.guard),
        ]

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return HudiTable(self._folder(work), topic=self.topic, sink=self.sink)

    def _folder(self, work: Path) -> Path:
        return work / self.sink


@dataclass(frozen=True, kw_only=True)
class SparkBehindHudi(SparkHudi):
    """A query without a checkpoint starts after the records in its table."""

    pipeline_type: ClassVar[type[SparkPipeline]] = SparkNewCheckpoint

    @property
    def name(self) -> str:
        own = "-own-writer" if self.guard == "checkpoint-and-batch-id" else ""
        return f"spark-behind-hudi{own}"

    @property
    def offers(self) -> frozenset[str]:
        return frozenset({DRIVER, NEW_CHECKPOINT})

    @property
    def says(self) -> str:
        writer = (
            "Every checkpoint has an identifier of its own."
            if self.guard == "checkpoint-and-batch-id"
            else "The identifier is Hudi's default, the same for every query."
        )
        return (
            f"{super().says} {writer} A query without a checkpoint starts after the records in "
            "its table, so that its checkpoint can be replaced; its batch ids then start from 0 "
            "again."
        )

    def command(self, place: JobPlace) -> list[str]:
        return [*super().command(place), "--begin", "behind-table"]

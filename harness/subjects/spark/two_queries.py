"""PySpark with two queries in one driver, each with its own checkpoint and table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.two_tables import TABLES, VIEW, TwoTables
from onceproof.harness.subjects.spark.foreach_batch_postgres import database_of
from onceproof.harness.subjects.spark.pipeline import SparkPipeline
from onceproof.harness.subjects.spark.subject import JOBS, JobPlace, SparkSubject
from onceproof.harness.subjects.spark.two_checkpoints import SparkTwoCheckpoints, second


@dataclass(frozen=True, kw_only=True)
class SparkTwoQueries(SparkSubject):
    """The same payments into two tables; the queries share a driver and the guard's table."""

    guard: Literal["query-and-batch-id", "batch-id"] = "query-and-batch-id"
    topic: str = "payments"

    family = "spark-triggers"
    in_postgres: ClassVar[bool] = True
    pipeline_type: ClassVar[type[SparkPipeline]] = SparkTwoCheckpoints
    sink = TABLES[0]
    view = VIEW
    output_topic = None

    @property
    def name(self) -> str:
        return "spark-two-queries" + ("-batch-id" if self.guard == "batch-id" else "")

    @property
    def sinks(self) -> tuple[str, ...]:
        return TABLES

    @property
    def says(self) -> str:
        says = (
            "PySpark with two queries in one driver, each at its own pace, by foreachBatch into "
            "its own PostgreSQL table. Each micro-batch is one transaction, which also records it "
            "in a table that both share"
        )
        if self.guard == "batch-id":
            return (
                f"{says}, by batch id alone: the broken twin. A query skips batches that the other "
                "has written."
            )
        return f"{says}, by query id and batch id: exactly-once into both tables."

    def command(self, place: JobPlace) -> list[str]:
        return [
            str(JOBS / "two_queries.py"),
            *("--bootstrap", place.source_bootstrap, "--topic", place.topic),
            *("--database", database_of(place, self.name)),
            *("--checkpoints", str(place.checkpoint), str(second(place.checkpoint))),
            *("--progress", str(place.progress), "--guard", self.guard),
        ]

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return TwoTables(database, topic=self.topic)

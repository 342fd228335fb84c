"""PySpark foreachBatch into PostgreSQL, with its guard or (broken twin) without."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.ledger import Ledger
from onceproof.harness.subjects.spark.subject import JOBS, JobPlace, SparkSubject


@dataclass(frozen=True, kw_only=True)
class SparkForeachBatchPostgres(SparkSubject):
    """A micro-batch is one database transaction; the guard makes its replay a no-op.

    With `isolation=None` its source has Spark's default, which reads uncommitted records.
    """

    family = "spark-foreachbatch"
    in_postgres: ClassVar[bool] = True

    guard: Literal["query-and-batch-id", "batch-id", "none"] = "query-and-batch-id"
    isolation: Literal["read_committed"] | None = "read_committed"
    topic: str = "payments"

    @property
    def name(self) -> str:
        return f"spark-foreachbatch-postgres{self.lacks}" + (
            "" if self.isolation else "-default-isolation"
        )

    @property
    def lacks(self) -> str:
        return {"query-and-batch-id": "", "batch-id": "-batch-id", "none": "-unguarded"}[self.guard]

    @property
    def says(self) -> str:
        if self.guard == "none":
            return (
                "PySpark foreachBatch into PostgreSQL, each micro-batch one transaction without a "
                "guard: the broken twin. foreachBatch alone guarantees at-least-once only."
            )
        if self.guard == "batch-id":
            return (
                "PySpark foreachBatch into PostgreSQL, each micro-batch one transaction that also "
                "records its batch id and skips one that is already recorded: the broken twin. "
                "Another query uses the same batch ids."
            )
        if self.isolation is None:
            return (
                "PySpark foreachBatch into PostgreSQL with its guard, whose source has no "
                "`kafka.isolation.level`: the broken twin. It also reads aborted records."
            )
        return (
            "PySpark foreachBatch into PostgreSQL, each micro-batch one transaction that also "
            "records (query id, batch id) and skips a batch that is already recorded: exactly-once."
        )

    sink = "ledger"
    view = "table"

    def command(self, place: JobPlace) -> list[str]:
        return [
            str(JOBS / "foreach_batch_postgres.py"),
            *("--bootstrap", place.source_bootstrap, "--topic", place.topic),
            *("--database", self.database_of(place), "--checkpoint", str(place.checkpoint)),
            *("--progress", str(place.progress), "--guard", self.guard),
            *(("--isolation", self.isolation) if self.isolation else ()),
        ]

    def database_of(self, place: JobPlace) -> str:
        return database_of(place, self.name)

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        return Ledger(database, topic=self.topic, sink=self.sink, view=self.view)


def database_of(place: JobPlace, name: str) -> str:
    """Return the connection string of the database that a job writes to.

    Raises:
        StageTrouble: the stage has no database.
    """
    if not place.database:
        raise StageTrouble(
            f"{name} writes to PostgreSQL, but the stage has none: add "
            '`database = "host=… dbname=…"` to the cluster\'s file, or use spark-kafka-sink'
        )
    return place.database

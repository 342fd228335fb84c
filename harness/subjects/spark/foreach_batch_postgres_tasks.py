"""PySpark foreachBatch into PostgreSQL, written by the tasks: a broken twin."""

from __future__ import annotations

from dataclasses import dataclass

from onceproof.harness.subjects.spark.foreach_batch_postgres import SparkForeachBatchPostgres
from onceproof.harness.subjects.spark.subject import JOBS, JobPlace


@dataclass(frozen=True, kw_only=True)
class SparkForeachBatchPostgresTasks(SparkForeachBatchPostgres):
    """The guard is recorded in another transaction than its batch."""

    @property
    def name(self) -> str:
        return "spark-foreachbatch-postgres-tasks"

    @property
    def says(self) -> str:
        return (
            "PySpark foreachBatch into PostgreSQL, each task one transaction, and (query id, batch "
            "id) recorded after all of them: the broken twin. A partly written batch is repeated."
        )

    def command(self, place: JobPlace) -> list[str]:
        return [
            str(JOBS / "foreach_batch_postgres_tasks.py"),
            *("--bootstrap", place.source_bootstrap, "--topic", place.topic),
            *("--database", self.database_of(place), "--checkpoint", str(place.checkpoint)),
            *("--progress", str(place.progress)),
        ]

"""PySpark foreachBatch into PostgreSQL; a new query starts after the records in the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.subjects.spark.foreach_batch_postgres import SparkForeachBatchPostgres
from onceproof.harness.subjects.spark.new_checkpoint import SparkNewCheckpoint
from onceproof.harness.subjects.spark.pipeline import SparkPipeline
from onceproof.harness.subjects.spark.subject import DRIVER, NEW_CHECKPOINT, JobPlace


@dataclass(frozen=True, kw_only=True)
class SparkBehindLedger(SparkForeachBatchPostgres):
    """A query without a checkpoint takes its starting offsets from the table."""

    pipeline_type: ClassVar[type[SparkPipeline]] = SparkNewCheckpoint

    @property
    def name(self) -> str:
        return f"spark-behind-ledger{self.lacks}"

    @property
    def offers(self) -> frozenset[str]:
        return frozenset({DRIVER, NEW_CHECKPOINT})

    @property
    def says(self) -> str:
        return (
            f"{super().says} A query without a checkpoint starts from the offsets in its table, so "
            "that its checkpoint can be replaced; its batch ids then start from 0 again."
        )

    def command(self, place: JobPlace) -> list[str]:
        return [*super().command(place), "--begin", "behind-ledger"]

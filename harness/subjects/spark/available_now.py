"""PySpark foreachBatch into PostgreSQL, started again and again with the trigger availableNow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.subjects.spark.foreach_batch_postgres import SparkForeachBatchPostgres
from onceproof.harness.subjects.spark.pipeline import SparkPipeline
from onceproof.harness.subjects.spark.restarted_driver import SparkPipelineAgain
from onceproof.harness.subjects.spark.subject import JobPlace


@dataclass(frozen=True, kw_only=True)
class SparkAvailableNow(SparkForeachBatchPostgres):
    """A stream that ends when its input is processed, restarted as by a scheduler."""

    family = "spark-triggers"
    pipeline_type: ClassVar[type[SparkPipeline]] = SparkPipelineAgain

    @property
    def name(self) -> str:
        return f"spark-available-now{self.lacks}"

    @property
    def says(self) -> str:
        return (
            f"{super().says} Its trigger is `availableNow`: the driver exits when all input is "
            "processed, and is restarted."
        )

    def command(self, place: JobPlace) -> list[str]:
        return [*super().command(place), "--trigger", "available-now"]

"""A Spark pipeline without Spark."""

from __future__ import annotations

from typing import Any

from onceproof.harness.subjects.spark.pipeline import SparkPipeline


class AnyDriver(SparkPipeline):
    """Has what it is given, and nothing else."""

    def __init__(self, **parts: Any) -> None:
        self.__dict__.update(parts)

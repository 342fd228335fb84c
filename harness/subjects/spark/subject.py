"""Base class of all PySpark subjects, whose jobs are plain scripts in `jobs/`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.context.subject import SubjectBase
from onceproof.harness.history.system import System
from onceproof.harness.subjects.spark.classes import with_classes
from onceproof.harness.subjects.spark.driver import CONFIGURATION
from onceproof.harness.subjects.spark.pipeline import SparkPipeline
from onceproof.harness.tools.jar_lock import ICEBERG_RUNTIME
from onceproof.harness.tools.runtimes.known import POSTGRESQL
from onceproof.harness.tools.setup import Tools

JOBS: Final = Path(__file__).parent / "jobs"
DRIVER: Final = "driver"
"""Offered to faults: a driver that can be killed and paused."""
EXECUTORS: Final = "executors"
"""Offered by subjects whose tasks run in separate processes."""
NEW_CHECKPOINT: Final = "new checkpoint"
"""Offered by subjects that start after the sink's records if they find no checkpoint."""


@dataclass(frozen=True, kw_only=True)
class JobPlace:
    """A job's inputs, outputs and folders."""

    source_bootstrap: str
    sink_bootstrap: str
    database: str
    topic: str
    checkpoint: Path
    progress: Path
    work: Path


@dataclass(frozen=True, kw_only=True)
class SparkSubject(SubjectBase, ABC):
    """A PySpark pipeline, whose driver `pipeline_type` runs.

    Attributes:
        in_postgres: whether it writes to the stage's PostgreSQL.
    """

    in_postgres: ClassVar[bool] = False
    pipeline_type: ClassVar[type[SparkPipeline]] = SparkPipeline

    @property
    def system(self) -> System:
        return System.SPARK

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({"spark", POSTGRESQL} if self.in_postgres else {"spark"})

    @property
    def offers(self) -> frozenset[str]:
        return frozenset({DRIVER})

    def configuration(self) -> Mapping[str, Any]:
        return {"spark": CONFIGURATION}

    @abstractmethod
    def command(self, place: JobPlace) -> list[str]:
        """Return the job's script and arguments.

        Raises:
            StageTrouble: the stage has no database, and the job needs one.
        """

    def jars(self, tools: Tools) -> list[Path]:
        return [jar for jar in tools.spark_kafka_jars if self.needs_jar(jar.name)]

    def needs_jar(self, name: str) -> bool:
        """Return whether the driver gets a jar: Iceberg's, as big as Spark, only if it is used."""
        return not name.startswith(ICEBERG_RUNTIME)

    def sink_log(self, work: Path) -> Path | None:
        """Return the folder of the sink's own log of micro-batches; None if it has none."""
        return None

    def pipeline(self, parts: PipelineParts) -> SparkPipeline:
        place = JobPlace(
            source_bootstrap=parts.stage.bootstrap("pipeline"),
            sink_bootstrap=parts.stage.bootstrap("pipeline-sink"),
            database=parts.stage.database("pipeline"),
            topic=parts.topic,
            checkpoint=parts.work / "checkpoint",
            progress=parts.history / "pipeline.jsonl",
            work=parts.work,
        )
        return self.pipeline_type(
            command=self.command(place),
            checkpoint=place.checkpoint,
            parts=parts,
            jars=self.jars(parts.tools),
            sink_log=self.sink_log(parts.work),
            options=with_classes(parts),
        )

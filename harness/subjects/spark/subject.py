"""What all PySpark subjects have in common.

A job is a plain script, started as a user starts it; a file of its own says
what it does with a micro-batch, with a job in `jobs/`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.context.subject import SubjectBase
from onceproof.harness.subjects.spark.classes import with_classes
from onceproof.harness.subjects.spark.driver import CONFIGURATION
from onceproof.harness.subjects.spark.pipeline import SparkPipeline
from onceproof.harness.tools.jar_lock import ICEBERG_RUNTIME

JOBS: Final = Path(__file__).parent / "jobs"
"""The programs of PySpark subjects."""
DRIVER: Final = "driver"
"""What a Spark subject offers: a driver that can be killed and paused."""
EXECUTORS: Final = "executors"
"""What one offers whose tasks are run by processes of their own."""
NEW_CHECKPOINT: Final = "new checkpoint"
"""What one offers that begins where its sink ends if it finds no checkpoint."""


@dataclass(frozen=True, kw_only=True)
class JobPlace:
    """Where a job finds its input and leaves its output."""

    source_bootstrap: str
    sink_bootstrap: str
    database: str
    topic: str
    checkpoint: Path
    progress: Path
    work: Path


@dataclass(frozen=True, kw_only=True)
class SparkSubject(SubjectBase, ABC):
    """A PySpark pipeline.

    Attributes:
        pipeline_type: what drives it in a run.
    """

    pipeline_type: ClassVar[type[SparkPipeline]] = SparkPipeline

    @property
    def offers(self) -> frozenset[str]:
        return frozenset({DRIVER})

    def configuration(self) -> Mapping[str, Any]:
        return {"spark": CONFIGURATION}

    @abstractmethod
    def command(self, place: JobPlace) -> list[str]:
        """The job's script and arguments, for the Python interpreter.

        Raises:
            StageTrouble: the stage has no database, and the job needs one.
        """

    def needs_jar(self, name: str) -> bool:
        """Whether the driver gets a jar; that of Iceberg, which is as big as a Spark of its own,
        only where it is of use.
        """
        return not name.startswith(ICEBERG_RUNTIME)

    def sink_log(self, work: Path) -> Path | None:
        """Where its sink keeps a log of micro-batches of its own; None: nowhere."""
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
            jars=[jar for jar in parts.tools.spark_kafka_jars if self.needs_jar(jar.name)],
            sink_log=self.sink_log(parts.work),
            options=with_classes(parts),
        )

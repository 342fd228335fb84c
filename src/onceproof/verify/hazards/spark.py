"""Hazards of Spark jobs, and of pipelines that can only be paused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onceproof.harness.faults.base import Fault
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.targets.program import Program
from onceproof.harness.faults.targets.spark_driver import SparkDriver
from onceproof.harness.faults.until import Acknowledged
from onceproof.verify.hazards.asking import cannot_pause, needs
from onceproof.verify.hazards.group import evictable
from onceproof.verify.hazards.hazard import Hazard, Pipeline, Strike


def _paused(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    fault: Fault = Pause(SparkDriver()) if pipeline.spark else Pause(Program())
    yield Strike(do=fault, until=Acknowledged(records=400))


_SPARK_JOBS: Final = "Spark jobs"

SPARK: Final[tuple[Hazard, ...]] = (
    Hazard(
        name="killed-after-offset-log",
        says="the driver is killed when a micro-batch is planned but not started",
        of=_SPARK_JOBS,
        proof="the checkpoint had the offsets of the batch and no commit",
        unless=needs(lambda p: p.spark, "it is not a Spark job with a watched checkpoint"),
        strikes=lambda p, n: [Strike(do=Kill(SparkDriver(), at="after-offset-log"))],
    ),
    Hazard(
        name="replayed-batch",
        says="the driver is killed when a micro-batch is in the sink but not committed",
        of=_SPARK_JOBS,
        proof="the batch ran again after its effects were visible",
        unless=needs(lambda p: p.spark, "it is not a Spark job with a watched checkpoint"),
        strikes=lambda p, n: [Strike(do=Kill(SparkDriver(), at="after-sink-write"), tells=True)],
    ),
    Hazard(
        name="killed-after-batch-commit",
        says="the driver is killed when a micro-batch has been committed",
        of=_SPARK_JOBS,
        proof="the checkpoint had the commit of the batch",
        unless=needs(lambda p: p.spark, "it is not a Spark job with a watched checkpoint"),
        strikes=lambda p, n: [Strike(do=Kill(SparkDriver(), at="after-commit"))],
    ),
    Hazard(
        name="paused",
        says="all its processes are paused, then resumed",
        of="Spark jobs, and pipelines without a consumer group",
        proof="it made no progress while records were acknowledged",
        unless=lambda p: (
            cannot_pause(p)
            or (None if p.spark or evictable(p) else "hazard evicted is tested instead")
        ),
        strikes=lambda p, n: list(_paused(p, n)),
        rare=True,
    ),
)

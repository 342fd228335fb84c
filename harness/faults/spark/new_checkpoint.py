"""Restart a Spark query with a new checkpoint, as an operator might.

To Spark this is another query with another id, whose batch numbers restart from 0. A sink that
recognizes batches by number alone skips the first of these. The query resumes where it was only if
the job asks its sink.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.spark.between_batches import KilledDriver
from onceproof.harness.faults.spark.checkpoint_changed import CheckpointChanged
from onceproof.harness.faults.spark.driver import driver
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.spark.checkpoint import Checkpoint
from onceproof.harness.subjects.spark.new_checkpoint import SparkNewCheckpoint
from onceproof.harness.subjects.spark.subject import NEW_CHECKPOINT


@dataclass(frozen=True, kw_only=True)
class NewCheckpoint:
    """SIGKILL the Spark driver and start it with a new checkpoint: another query, whose batches
    count from 0 again.
    """

    example: ClassVar[str] = "new-checkpoint"
    kind: ClassVar[str] = "surgery"
    needs = NEW_CHECKPOINT

    def describe(self) -> str:
        return "SIGKILL the Spark driver between micro-batches and start it with a new checkpoint"

    def inject(self, context: RunContext, name: str) -> _Renewed:
        return _Renewed(context, name)


class _Renewed(CheckpointChanged):
    _former: Checkpoint | None = None

    def change(self, killed: KilledDriver) -> None:
        self._former = _replaceable(self._context).begin_anew()

    def shown(self, killed: KilledDriver) -> str | None:
        if driver(self._context).checkpoint.query_id() is not None:
            return None
        return f"the checkpoint of query {self._query()} was replaced by an empty one"

    def awaited(self, killed: KilledDriver) -> int:
        return 0

    def hazard(self, killed: KilledDriver) -> tuple[str, str] | None:
        checkpoint = driver(self._context).checkpoint
        if all(start == end for start, end in checkpoint.range_of(0).values()):
            return None  # Spark runs a query's first batch even if there is nothing to do
        return "new-checkpoint", (
            f"micro-batch 0 of query {checkpoint.query_id()} was committed, "
            f"after micro-batches 0 to {killed.batch} of query {self._query()}"
        )

    def _query(self) -> str | None:
        return None if self._former is None else self._former.query_id()


def _replaceable(context: RunContext) -> SparkNewCheckpoint:
    pipeline = driver(context)
    if not isinstance(pipeline, SparkNewCheckpoint):
        raise StageTrouble(f"{context.subject.name} does not support a new checkpoint")
    return pipeline

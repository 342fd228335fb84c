"""A new checkpoint for a Spark query, given by an operator.

The one thing to know: to Spark it is another query, with another id, whose batches count from 0
again. Who takes a batch's number alone for the batch skips the first ones of it, which it has never
seen. Where the query begins is the job's own affair: it goes on exactly where it was only if it
asks its sink.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from harness.bench import Aftermath, Bench
from harness.faults.at_rest import Rested, ToRest, start_again
from harness.faults.by_hand import ByHand
from harness.faults.driver import driver
from harness.stage.base import StageTrouble
from harness.subjects.checkpoint import Checkpoint
from harness.subjects.spark_new_checkpoint import SparkNewCheckpoint
from harness.subjects.spark_subject import NEW_CHECKPOINT


@dataclass(frozen=True, kw_only=True)
class NewCheckpoint:
    """Kill the driver at rest, and start it again without its checkpoint."""

    kind: ClassVar[str] = "surgery"
    needs: ClassVar[str | None] = NEW_CHECKPOINT

    def describe(self) -> str:
        """The act in words."""
        return "SIGKILL the Spark driver at rest and start it with a new checkpoint"

    def inject(self, bench: Bench, name: str) -> _Renewed:
        """Do it, or lie in wait until it is at rest."""
        return _Renewed(bench, name)


BY_HAND: Final = ByHand(
    name="new-checkpoint",
    takes=(),
    example="new-checkpoint",
    says="SIGKILL the Spark driver and start it with a new checkpoint: another query, whose "
    "batches count from 0 again",
    make=NewCheckpoint,
)


class _Renewed:
    def __init__(self, bench: Bench, name: str) -> None:
        self.target = "driver"
        self.at: int | None = None
        self._bench = bench
        self._name = name
        self._to_rest = ToRest(bench, f"SIGKILL by fault «{name}»")
        self._rested: Rested | None = None
        self._former: Checkpoint | None = None
        self._proof: str | None = None
        self._over = False

    def evidence(self) -> str | None:
        """Where the query had come to, and that there is nothing of it any more."""
        if self._proof is None and (rested := self._to_rest.rested()) is not None:
            if self._former is None:
                self._former = _can_begin_anew(self._bench).begin_anew()
                self._rested, self.target, self.at = rested, rested.instance, rested.at
            if driver(self._bench).checkpoint.query_id() is None:
                self._proof = (
                    f"{rested}; the checkpoint of query {self._former.query_id()} was moved away, "
                    "and an empty one is in its place"
                )
        return self._proof

    def heal(self) -> None:
        """Start it; wait until another query has committed a micro-batch."""
        self._to_rest.end()
        if self._former is None and self._to_rest.rested() is None:
            return  # it was never killed
        start_again(self._bench)
        if self._former is not None and self._rested is not None and not self._over:
            pipeline = driver(self._bench)
            pipeline.wait_batch(0, seconds=150)
            self._bench.recorder.hazard(
                "new-checkpoint",
                hop="process",
                fault=self._name,
                owner=pipeline.checkpoint.query_id(),
                batch=0,
                detail=(
                    f"micro-batch 0 of query {pipeline.checkpoint.query_id()} was committed, after "
                    f"micro-batches 0 to {self._rested.batch} of query {self._former.query_id()}"
                ),
            )
        self._over = True

    def aftermath(self, known: Aftermath) -> None:
        """Nothing more to say."""


def _can_begin_anew(bench: Bench) -> SparkNewCheckpoint:
    pipeline = driver(bench)
    if not isinstance(pipeline, SparkNewCheckpoint):
        raise StageTrouble(f"{bench.subject.name} cannot have a new checkpoint")
    return pipeline

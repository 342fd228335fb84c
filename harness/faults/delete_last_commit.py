"""The last entry of a Spark query's commit log lost, while its driver is down.

The one thing to know: to Spark the checkpoint is then as if it had been killed before that commit:
it must run the batch again, with the same offsets, and commit it. The batch's effects were visible
before: a sink that does not know the batch shows them twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from harness.bench import Aftermath, Bench
from harness.faults.at_rest import COMMITS, Logs, Rested, ToRest, start_again
from harness.faults.by_hand import ByHand
from harness.faults.driver import driver
from harness.subjects.spark_subject import DRIVER


@dataclass(frozen=True, kw_only=True)
class DeleteLastCommit:
    """Kill the driver at rest, delete the last entry of the commit log, start it again."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = DRIVER

    def describe(self) -> str:
        """The act in words."""
        return "SIGKILL the Spark driver at rest and delete the last entry of its commit log"

    def inject(self, bench: Bench, name: str) -> _Deleted:
        """Do it, or lie in wait until it is at rest."""
        return _Deleted(bench, name)


BY_HAND: Final = ByHand(
    name="delete-last-commit",
    takes=(),
    example="delete-last-commit",
    says="SIGKILL the Spark driver and delete the last entry of its commit log: the batch must run "
    "again with the same offsets",
    make=DeleteLastCommit,
)


class _Deleted:
    def __init__(self, bench: Bench, name: str) -> None:
        self._bench = bench
        self._name = name
        self.target = "driver"
        self.at: int | None = None
        self._to_rest = ToRest(bench, f"SIGKILL by fault «{name}»")
        self._rested: Rested | None = None
        self._proof: str | None = None
        self._over = False

    def evidence(self) -> str | None:
        """Which batch it was, what the sink had of it, and what the commit log ends with now."""
        if self._proof is None and (rested := self._to_rest.rested()) is not None:
            if self._rested is None:
                Logs(self._bench).delete(COMMITS, rested.batch)
                self._rested, self.target, self.at = rested, rested.instance, rested.at
            checkpoint = driver(self._bench).checkpoint
            planned, committed = checkpoint.planned()[-1:], checkpoint.committed()[-1:]
            if planned == [rested.batch] != committed:
                ends = committed[0] if committed else "nothing"
                self._proof = f"{rested}; the commit log ends with {ends} now"
        return self._proof

    def heal(self) -> None:
        """Start it; wait until the batch is committed once more."""
        self._to_rest.end()
        if (rested := self._rested or self._to_rest.rested()) is None:
            return  # it was never killed
        start_again(self._bench)
        pipeline = driver(self._bench)
        pipeline.wait_batch(rested.batch, seconds=150)
        if not self._over and self._rested is not None:
            self._bench.recorder.hazard(
                "replayed-batch",
                hop="process",
                fault=self._name,
                owner=pipeline.checkpoint.query_id(),
                batch=rested.batch,
                detail=(
                    f"micro-batch {rested.batch} was to run again, its commit lost, after "
                    f"{rested.present} of its {rested.planned} effects were visible in the sink"
                ),
            )
        self._over = True

    def aftermath(self, known: Aftermath) -> None:
        """Nothing more to say."""

"""Entries of a dead driver's logs deleted: what there is to do, whichever entries they are.

The one thing to know: the driver is dead from when it rests until this is healed, and nothing but
us touches its checkpoint meanwhile. Healed means that a batch of the same number was committed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from harness.bench import Aftermath, Bench
from harness.faults.at_rest import Logs, Rested, ToRest, start_again
from harness.faults.driver import driver
from harness.subjects.checkpoint import Checkpoint


class EntryDeleted(ABC):
    """The last entry of one log or another deleted, while its driver is down."""

    def __init__(self, bench: Bench, name: str) -> None:
        """Kill the driver at rest, or lie in wait until it is."""
        self.target = "driver"
        self.at: int | None = None
        self._bench = bench
        self._name = name
        self._to_rest = ToRest(bench, f"SIGKILL by fault «{name}»")
        self._rested: Rested | None = None
        self._proof: str | None = None
        self._over = False

    @abstractmethod
    def delete(self, checkpoint: Checkpoint, logs: Logs, batch: int) -> None:
        """Delete what belongs to that batch."""

    @abstractmethod
    def shown(self, checkpoint: Checkpoint, batch: int) -> str | None:
        """How the checkpoint shows it; None while it does not."""

    @abstractmethod
    def hazard(self, checkpoint: Checkpoint, batch: int) -> tuple[str, str]:
        """When the batch is committed again: which hazard that is, and what became of it."""

    def evidence(self) -> str | None:
        """Which batch it was, what the sink had of it, and how the checkpoint ends now."""
        if self._proof is None and (rested := self._to_rest.rested()) is not None:
            checkpoint = driver(self._bench).checkpoint
            if self._rested is None:
                self.delete(checkpoint, Logs(self._bench), rested.batch)
                self._rested, self.target, self.at = rested, rested.instance, rested.at
            if (shown := self.shown(checkpoint, rested.batch)) is not None:
                self._proof = f"{rested}; {shown}"
        return self._proof

    def heal(self) -> None:
        """Start it; wait until there is a batch of that number again, and it is committed."""
        self._to_rest.end()
        if (rested := self._rested or self._to_rest.rested()) is None:
            return  # it was never killed
        start_again(self._bench)
        pipeline = driver(self._bench)
        pipeline.wait_batch(rested.batch, seconds=150)
        if not self._over and self._rested is not None:
            hazard, became = self.hazard(pipeline.checkpoint, rested.batch)
            self._bench.recorder.hazard(
                hazard,
                hop="process",
                fault=self._name,
                owner=pipeline.checkpoint.query_id(),
                batch=rested.batch,
                detail=(
                    f"micro-batch {rested.batch} {became}, after {rested.present} of its "
                    f"{rested.planned} effects were visible in the sink"
                ),
            )
        self._over = True

    def aftermath(self, known: Aftermath) -> None:  # noqa: B027 - of no fault it has to do more
        """Nothing more to say."""

"""A dead driver's checkpoint changed: what there is to do, whatever is changed in it.

The driver is dead from when it rests until this is healed, and nothing but
us touches its checkpoint meanwhile. Healed means that a batch was committed by what was left.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.faults.spark.between_batches import Rested, ToRest, start_again
from onceproof.harness.faults.spark.driver import driver


class CheckpointChanged(ABC):
    """A checkpoint changed while its driver is down."""

    def __init__(self, context: RunContext, name: str) -> None:
        """Kill the driver at rest, or arm until it is."""
        self.target = "driver"
        self.at: int | None = None
        self._context = context
        self._name = name
        self._to_rest = ToRest(context, f"SIGKILL by fault «{name}»")
        self._rested: Rested | None = None
        self._proof: str | None = None
        self._over = False

    @abstractmethod
    def change(self, rested: Rested) -> None:
        """Do it; the driver is dead."""

    @abstractmethod
    def shown(self, rested: Rested) -> str | None:
        """How the checkpoint shows it; None while it does not."""

    @abstractmethod
    def awaited(self, rested: Rested) -> int:
        """The batch that has to be committed."""

    @abstractmethod
    def hazard(self, rested: Rested) -> tuple[str, str] | None:
        """When it is committed: which hazard that is, and what became of it; None: it is none."""

    def evidence(self) -> str | None:
        """Where the driver was, what the sink had, and what the checkpoint is like now."""
        if self._proof is None and (rested := self._to_rest.rested()) is not None:
            if self._rested is None:
                self.change(rested)
                self._rested, self.target, self.at = rested, rested.instance, rested.at
            if (shown := self.shown(rested)) is not None:
                self._proof = f"{rested}; {shown}"
        return self._proof

    def heal(self) -> None:
        """Start it; wait until that batch is committed."""
        self._to_rest.end()
        if (rested := self._rested or self._to_rest.rested()) is None:
            return  # it was never killed
        start_again(self._context)
        if self._rested is None or self._over:
            return
        pipeline, batch = driver(self._context), self.awaited(rested)
        pipeline.wait_batch(batch, seconds=150)
        if self._proof is not None and (met := self.hazard(rested)) is not None:
            hazard, became = met
            self._context.recorder.hazard(
                hazard,
                hop="process",
                fault=self._name,
                owner=pipeline.checkpoint.query_id(),
                batch=batch,
                detail=became,
            )
        self._over = True

    def after_collect(self, known: Collected) -> None:  # noqa: B027 - of no fault it has to do more
        """Nothing more to say."""

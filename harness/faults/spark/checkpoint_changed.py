"""Base class of faults that change the checkpoint while its driver is down.

They are healed once a batch is committed with the changed checkpoint.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.faults.spark.between_batches import Rested, ToRest, start_again
from onceproof.harness.faults.spark.driver import driver


class CheckpointChanged(ABC):
    """A changed checkpoint as an injection."""

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
        """Change the checkpoint; the driver is dead."""

    @abstractmethod
    def shown(self, rested: Rested) -> str | None:
        """Describe the visible change; None while there is none."""

    @abstractmethod
    def awaited(self, rested: Rested) -> int:
        """Return the batch that must be committed."""

    @abstractmethod
    def hazard(self, rested: Rested) -> tuple[str, str] | None:
        """Return the hazard and its details once the batch is committed; None if there is none."""

    def evidence(self) -> str | None:
        if self._proof is None and (rested := self._to_rest.rested()) is not None:
            if self._rested is None:
                self.change(rested)
                self._rested, self.target, self.at = rested, rested.instance, rested.at
            if (shown := self.shown(rested)) is not None:
                self._proof = f"{rested}; {shown}"
        return self._proof

    def heal(self) -> None:
        """Start the driver and wait until that batch is committed."""
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

    def after_collect(self, known: Collected) -> None:  # noqa: B027 - optional
        """Record no further hazard."""

"""Base class of faults that change the checkpoint while its driver is down.

They are healed once a batch is committed with the changed checkpoint.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.faults.spark.between_batches import (
    KillBetweenBatches,
    KilledDriver,
    start_again,
)
from onceproof.harness.faults.spark.driver import driver


class CheckpointChanged(ABC):
    """A changed checkpoint as an injection."""

    def __init__(self, context: RunContext, name: str) -> None:
        """Kill the driver at rest, or arm until it is."""
        self.target = "driver"
        self.at: int | None = None
        self._context = context
        self._name = name
        self._kill = KillBetweenBatches(context, f"SIGKILL by fault «{name}»")
        self._killed: KilledDriver | None = None
        self._proof: str | None = None
        self._over = False

    @abstractmethod
    def change(self, killed: KilledDriver) -> None:
        """Change the checkpoint; the driver is dead."""

    @abstractmethod
    def shown(self, killed: KilledDriver) -> str | None:
        """Describe the visible change; None while there is none."""

    @abstractmethod
    def awaited(self, killed: KilledDriver) -> int:
        """Return the batch that must be committed."""

    @abstractmethod
    def hazard(self, killed: KilledDriver) -> tuple[str, str] | None:
        """Return the hazard and its details once the batch is committed; None if there is none."""

    def evidence(self) -> str | None:
        if self._proof is None and (killed := self._kill.killed()) is not None:
            if self._killed is None:
                self.change(killed)
                self._killed, self.target, self.at = killed, killed.instance, killed.at
            if (shown := self.shown(killed)) is not None:
                self._proof = f"{killed}; {shown}"
        return self._proof

    def heal(self) -> None:
        """Start the driver and wait until that batch is committed."""
        self._kill.end()
        if (killed := self._killed or self._kill.killed()) is None:
            return  # it was never killed
        start_again(self._context)
        if self._killed is None or self._over:
            return
        pipeline, batch = driver(self._context), self.awaited(killed)
        pipeline.wait_batch(batch, seconds=150)
        if self._proof is not None and (met := self.hazard(killed)) is not None:
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

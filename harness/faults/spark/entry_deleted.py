"""Entries of a dead driver's logs deleted: what there is to do, whichever entries they are.

Healed means that a batch of the same number was committed.
"""

from __future__ import annotations

from abc import abstractmethod

from onceproof.harness.faults.spark.between_batches import Logs, Rested
from onceproof.harness.faults.spark.checkpoint_changed import CheckpointChanged
from onceproof.harness.faults.spark.driver import driver
from onceproof.harness.subjects.spark.checkpoint import Checkpoint


class EntryDeleted(CheckpointChanged):
    """The last entry of one log or another deleted, while its driver is down."""

    @abstractmethod
    def delete(self, checkpoint: Checkpoint, logs: Logs, batch: int) -> None:
        """Delete what belongs to that batch."""

    @abstractmethod
    def ends(self, checkpoint: Checkpoint, batch: int) -> str | None:
        """How the checkpoint ends then; None while it does not."""

    @abstractmethod
    def became(self, checkpoint: Checkpoint, batch: int) -> tuple[str, str]:
        """When the batch is committed again: which hazard that is, and what became of it."""

    def change(self, rested: Rested) -> None:
        self.delete(driver(self._context).checkpoint, Logs(self._context), rested.batch)

    def shown(self, rested: Rested) -> str | None:
        return self.ends(driver(self._context).checkpoint, rested.batch)

    def awaited(self, rested: Rested) -> int:
        return rested.batch

    def hazard(self, rested: Rested) -> tuple[str, str]:
        """What became of that batch, and what the sink had of it before."""
        hazard, became = self.became(driver(self._context).checkpoint, rested.batch)
        return hazard, (
            f"micro-batch {rested.batch} {became}, after {rested.present} of its "
            f"{rested.planned} effects were visible in the sink"
        )

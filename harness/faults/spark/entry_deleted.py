"""Base class of faults that delete log entries; healed once their batch is committed again."""

from __future__ import annotations

from abc import abstractmethod

from onceproof.harness.faults.spark.between_batches import Logs, Rested
from onceproof.harness.faults.spark.checkpoint_changed import CheckpointChanged
from onceproof.harness.faults.spark.driver import driver
from onceproof.harness.subjects.spark.checkpoint import Checkpoint


class EntryDeleted(CheckpointChanged):
    """Deleted log entries as an injection."""

    @abstractmethod
    def delete(self, checkpoint: Checkpoint, logs: Logs, batch: int) -> None:
        """Delete the entries of that batch."""

    @abstractmethod
    def ends(self, checkpoint: Checkpoint, batch: int) -> str | None:
        """Describe the end of the shortened logs; None while they are not."""

    @abstractmethod
    def became(self, checkpoint: Checkpoint, batch: int) -> tuple[str, str]:
        """Return the hazard and its details once the batch is committed again."""

    def change(self, rested: Rested) -> None:
        self.delete(driver(self._context).checkpoint, Logs(self._context), rested.batch)

    def shown(self, rested: Rested) -> str | None:
        return self.ends(driver(self._context).checkpoint, rested.batch)

    def awaited(self, rested: Rested) -> int:
        return rested.batch

    def hazard(self, rested: Rested) -> tuple[str, str]:
        hazard, became = self.became(driver(self._context).checkpoint, rested.batch)
        return hazard, (
            f"micro-batch {rested.batch} {became}, after {rested.present} of its "
            f"{rested.planned} effects were visible in the sink"
        )

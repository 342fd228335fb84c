"""Base class of faults that delete log entries; healed once their batch is committed again."""

from __future__ import annotations

from abc import abstractmethod

from onceproof.harness.faults.spark.between_batches import KilledDriver, Logs
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

    def change(self, killed: KilledDriver) -> None:
        self.delete(driver(self._context).checkpoint, Logs(self._context), killed.batch)

    def shown(self, killed: KilledDriver) -> str | None:
        return self.ends(driver(self._context).checkpoint, killed.batch)

    def awaited(self, killed: KilledDriver) -> int:
        return killed.batch

    def hazard(self, killed: KilledDriver) -> tuple[str, str]:
        hazard, became = self.became(driver(self._context).checkpoint, killed.batch)
        return hazard, (
            f"micro-batch {killed.batch} {became}; before that, {killed.present} of its "
            f"{killed.planned} effects were visible in the sink"
        )

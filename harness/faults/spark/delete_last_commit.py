"""Delete the last entry of a Spark query's commit log while its driver is down.

Spark must run the batch again, as after a crash before the commit. Its effects are already visible,
so a sink that does not recognize the batch duplicates them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.spark.between_batches import COMMITS, Logs
from onceproof.harness.faults.spark.entry_deleted import EntryDeleted
from onceproof.harness.subjects.spark.checkpoint import Checkpoint
from onceproof.harness.subjects.spark.subject import DRIVER


@dataclass(frozen=True, kw_only=True)
class DeleteLastCommit:
    """SIGKILL the Spark driver and delete the last entry of its commit log: the batch must run
    again with the same offsets.
    """

    example: ClassVar[str] = "delete-last-commit"
    kind: ClassVar[str] = "crash"
    needs = DRIVER

    def describe(self) -> str:
        return (
            "SIGKILL the Spark driver between micro-batches and delete the last entry of its "
            "commit log"
        )

    def inject(self, context: RunContext, name: str) -> _Deleted:
        return _Deleted(context, name)


class _Deleted(EntryDeleted):
    def delete(self, checkpoint: Checkpoint, logs: Logs, batch: int) -> None:
        logs.delete(COMMITS, batch)

    def ends(self, checkpoint: Checkpoint, batch: int) -> str | None:
        planned, committed = checkpoint.planned()[-1:], checkpoint.committed()[-1:]
        if planned != [batch] or committed == planned:
            return None
        return f"the commit log now ends with {committed[0] if committed else 'nothing'}"

    def became(self, checkpoint: Checkpoint, batch: int) -> tuple[str, str]:
        return "replayed-batch", "had to run again, because its commit was deleted"

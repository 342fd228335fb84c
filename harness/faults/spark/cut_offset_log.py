"""Delete or tear the last entry of a Spark query's offset log while its driver is down.

Spark must notice a *torn* entry and refuse to start until it is restored, because it cannot know
the batch's offsets. It cannot notice that an entry was *deleted* with its commit: it plans the
batch again, with all records that arrived since. So the same batch id covers other records, and a
sink that skips batches by id loses the new ones. Spark gives no guarantee for such a checkpoint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.spark.between_batches import (
    COMMITS,
    OFFSETS,
    KillBetweenBatches,
    Logs,
    start_again,
    start_and_wait_exit,
)
from onceproof.harness.faults.spark.driver import driver
from onceproof.harness.faults.spark.entry_deleted import EntryDeleted
from onceproof.harness.faults.words import Word
from onceproof.harness.subjects.spark.checkpoint import Checkpoint
from onceproof.harness.subjects.spark.subject import DRIVER

How = Literal["deleted", "torn"]


@dataclass(frozen=True, kw_only=True)
class CutOffsetLog:
    """SIGKILL the Spark driver and truncate its offset log: a batch that is planned again gets
    other records, and a torn entry must keep the driver from starting.
    """

    example: ClassVar[str] = "cut-offset-log torn"
    kind: ClassVar[str] = "surgery"
    needs = DRIVER
    how: Annotated[How, Word(noun="cut")] = "deleted"
    """Delete the last entry with its commit, or keep half of it."""

    def describe(self) -> str:
        change = {
            "deleted": "delete the last entries of its offset log and commit log",
            "torn": "truncate the last entry of its offset log to half",
        }
        return f"SIGKILL the Spark driver between micro-batches and {change[self.how]}"

    def inject(self, context: RunContext, name: str) -> _Deleted | _Torn:
        return _Deleted(context, name) if self.how == "deleted" else _Torn(context, name)


class _Deleted(EntryDeleted):
    _was: object = None

    def delete(self, checkpoint: Checkpoint, logs: Logs, batch: int) -> None:
        self._was = checkpoint.end_of(batch)
        logs.delete(COMMITS, batch)
        logs.delete(OFFSETS, batch)

    def ends(self, checkpoint: Checkpoint, batch: int) -> str | None:
        planned = checkpoint.planned()[-1:]
        if planned == [batch] or planned != checkpoint.committed()[-1:]:
            return None
        return f"offset log and commit log now end with {planned[0] if planned else 'nothing'}"

    def became(self, checkpoint: Checkpoint, batch: int) -> tuple[str, str]:
        if checkpoint.end_of(batch) == self._was:
            return "replayed-batch", "was planned again with the same end offsets"
        return "replanned-batch", "was planned again with other end offsets"


class _Torn:
    def __init__(self, context: RunContext, name: str) -> None:
        self._context = context
        self._name = name
        self.target = "driver"
        self.at: int | None = None
        self._kill = KillBetweenBatches(context, f"SIGKILL by fault «{name}»")
        self._logs: Logs | None = None
        self._sizes = (0, 0)
        self._proof: str | None = None
        self._over = False

    def evidence(self) -> str | None:
        if self._proof is None and (killed := self._kill.killed()) is not None:
            if self._logs is None:
                self._logs = Logs(self._context)
                self._sizes = self._logs.truncate(OFFSETS, killed.batch)
                self.target, self.at = killed.instance, killed.at
            message = start_and_wait_exit(self._context)
            committed = driver(self._context).checkpoint.committed()[-1:]
            if committed != [killed.batch]:
                return None
            before, after = self._sizes
            self._proof = (
                f"{killed}; its offset log entry was truncated from {before} to {after} bytes, "
                f"and the next driver exited by itself, without a commit: «{message}»"
            )
            self._context.recorder.hazard(
                "torn-offset-log",
                hop="process",
                fault=self._name,
                owner=driver(self._context).checkpoint.query_id(),
                batch=killed.batch,
                detail=f"the offset log entry of micro-batch {killed.batch} was truncated to half",
            )
        return self._proof

    def heal(self) -> None:
        """Restore the entry, start the driver, and wait until it reads."""
        self._kill.end()
        if self._logs is None and self._kill.killed() is None:
            return  # it was never killed
        pipeline = driver(self._context)
        if self._logs is not None and not self._over:
            if pipeline.alive():
                pipeline.kill("its checkpoint is being restored")
            self._logs.put_back()
        self._over = True
        start_again(self._context)

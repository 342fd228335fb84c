"""Pause a Flink job, replace it by a new instance, and resume it as a zombie.

The new instance aborts the zombie's open transactions. The zombie still tries to write and to
commit; only fencing prevents that. It must end by itself, and may take its successor with it: see
docs/findings/flink-zombie.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.flink.jobs import job, transactions_of, wait_completes
from onceproof.harness.subjects.flink.crash_point_trigger import FlinkCrashPointTrigger
from onceproof.harness.subjects.flink.crash_points import CHECKPOINT_BEGUN
from onceproof.harness.subjects.flink.subject import JOB
from onceproof.harness.wait import wait_until

ZOMBIE: Final = "zombie"
"""A job resumed after its successor had completed a checkpoint, and ended by itself."""
_SECONDS: Final = 60.0


@dataclass(frozen=True, kw_only=True)
class ReplaceJob:
    """Pause the Flink job during a checkpoint, and let it continue when a new instance of it is
    running.
    """

    example: ClassVar[str] = "replace-job"
    kind: ClassVar[str] = "timeout"
    needs = JOB

    def describe(self) -> str:
        return "pause the Flink job during a checkpoint until a new instance of it has taken over"

    def inject(self, context: RunContext, name: str) -> _Replaced:
        return _Replaced(context, name)


class _Replaced:
    def __init__(self, context: RunContext, name: str) -> None:
        self._context = context
        self._name = name
        self._job = job(context)
        self.target = "job"
        self.at: int | None = None
        self._trigger = FlinkCrashPointTrigger(
            CHECKPOINT_BEGUN,
            job=self._job,
            look=partial(transactions_of, context),
            strike=self._job.succeed,
            stop=context.stop,
        )
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """Return proof that it is paused and that its successor has completed a checkpoint."""
        if self._trigger.error is not None:
            raise self._trigger.error
        self._job.check()
        hit, newest = self._trigger.hit, self._job.newest()
        if self._proof is None and hit is not None and newest is not None and hit.process.frozen():
            self.target, self.at = hit.process.instance, hit.at
            opened = f" with {', '.join(hit.open)} open" if hit.open else ""
            self._proof = (
                f"{self.target} is paused{opened}; its successor has completed checkpoint {newest}"
            )
        return self._proof

    def heal(self) -> None:
        self._trigger.end()
        hit = self._trigger.hit
        if hit is None:
            return
        zombie = hit.process
        zombie.thaw()
        wait_until(
            lambda: not zombie.leader_alive(),
            what=f"{zombie.instance} to exit",
            seconds=_SECONDS,
            stop=self._context.stop,
            seen=zombie.tail,
        )
        zombie.note_exit()
        if self._proof is not None:  # otherwise it may have resumed before it had a successor
            self._context.recorder.hazard(
                ZOMBIE,
                hop="process",
                fault=self._name,
                owner=self._job.name,
                batch=hit.number,
                detail=(
                    f"{zombie.instance} resumed and {zombie.ended}; its last log line: "
                    f"{zombie.tail(1)}"
                ),
            )
        wait_completes(self._context, beyond=self._job.newest())

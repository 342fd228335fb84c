"""One of several instances is killed while it works; the others get its partitions."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import ClassVar

import psutil

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.coordinated import group_of
from onceproof.harness.faults.program.evict_program import wait_several, workers
from onceproof.harness.faults.program.programs import at_work, program, wait_works
from onceproof.harness.user_pipeline.program import PROGRAM


@dataclass(frozen=True, kw_only=True)
class KillInstance:
    """SIGKILL one process of the pipeline, until its group goes on without it.

    Attributes:
        group: that its processes are members of.
        phase: how long after a write it comes; see `at_work`.
    """

    kind: ClassVar[str] = "crash"
    needs = PROGRAM
    group: str
    phase: float = 0.0

    def describe(self) -> str:
        return (
            "SIGKILL one process of the pipeline while inputs wait, until group "
            f"{self.group} goes on without it"
        )

    def inject(self, context: RunContext, name: str) -> _Killed:
        return _Killed(context, self)


class _Killed:
    def __init__(self, context: RunContext, fault: KillInstance) -> None:
        self._context, self._fault = context, fault
        wait_several(context, fault.group)
        at_work(context, fault.phase)
        self._before = self._members()
        process = psutil.Process(max(workers(context)))
        self.target = f"process {process.pid} of {program(context).supervisor.running().instance}"
        os.kill(process.pid, signal.SIGKILL)
        self.at = now()
        self._process = process
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """That a member is gone, and the group is stable without it."""
        if self._proof is None and self._before and not _lives(self._process):
            now_ = self._members()
            if gone := len(self._before - now_) if now_ else 0:
                self._proof = (
                    f"{self.target} ended by signal 9; of {len(self._before)} members of group "
                    f"{self._fault.group} {gone} left, and it went on with {len(now_)}"
                )
        return self._proof

    def heal(self) -> None:
        """See that there are several again: whoever started it starts it again."""
        wait_several(self._context, self._fault.group)
        wait_works(self._context)

    def _members(self) -> frozenset[str]:
        """Ids of the members; empty while the group is rebalancing."""
        with group_of(self._context, self._fault.group) as group:
            state = group.describe()
        return state.ids if state.state == "Stable" else frozenset()


def _lives(process: psutil.Process) -> bool:
    """Whether it runs; one that nobody has waited for yet does not."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False

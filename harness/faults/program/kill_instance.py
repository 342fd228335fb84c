"""Kill one of several group members while it works; the others get its partitions."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.group_members import GroupMembers
from onceproof.harness.faults.program.programs import at_work, wait_works
from onceproof.harness.faults.program.several import described, wait_several, workers
from onceproof.harness.user_pipeline.program import PROGRAM


@dataclass(frozen=True, kw_only=True)
class KillInstance:
    """SIGKILL one process of the pipeline, until its group is stable without it."""

    kind: ClassVar[str] = "crash"
    needs = PROGRAM
    group: str
    phase: float = 0.0
    """How long after a write to kill it; see `at_work`."""

    def describe(self) -> str:
        return (
            "SIGKILL one process of the pipeline while there are unprocessed inputs, and wait "
            f"until group {self.group} continues without it"
        )

    def inject(self, context: RunContext, name: str) -> _Killed:
        return _Killed(context, self)


class _Killed:
    def __init__(self, context: RunContext, fault: KillInstance) -> None:
        self._context = context
        self._group = GroupMembers(context, fault.group)
        wait_several(context, self._group)
        at_work(context, fault.phase)
        self._before = self._group.wait_stable()
        pid = max(workers(context))
        self.target = described(context, pid)
        os.kill(pid, signal.SIGKILL)
        self.at = now()
        self._proof: str | None = None

    def evidence(self) -> str | None:
        members = frozenset[str]() if self._proof else self._group.ids()
        if members and (gone := len(self._before - members)):
            self._proof = (
                f"{self.target} ended by signal 9; {gone} of {len(self._before)} members left "
                f"group {self._group.name}, which continued with {len(members)}"
            )
        return self._proof

    def heal(self) -> None:
        """Wait until there are several processes again; what supervises them restarts them."""
        wait_several(self._context, self._group)
        wait_works(self._context)

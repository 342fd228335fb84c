"""One of several processes is killed while it works; the others take its work over."""

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
from onceproof.harness.faults.program.without_one import WithoutOne
from onceproof.harness.user_pipeline.program import PROGRAM


@dataclass(frozen=True, kw_only=True)
class KillInstance:
    """SIGKILL one process of the pipeline, until the others go on without it.

    Attributes:
        group: that its processes are members of; None: of none that the cluster knows.
        number: without a group: which one, in the order of their ids.
        seconds: without a group: how long at most until the others have done what is in the input.
        phase: how long after a write it comes; see `at_work`.
    """

    kind: ClassVar[str] = "crash"
    needs = PROGRAM
    group: str | None = None
    number: int = 0
    seconds: float = 30.0
    phase: float = 0.0

    def describe(self) -> str:
        if self.group is None:
            return (
                f"SIGKILL process {self.number} of the pipeline, until others have done what is in "
                f"the input, at most {self.seconds:g} s"
            )
        return (
            "SIGKILL one process of the pipeline while inputs wait, until group "
            f"{self.group} goes on without it"
        )

    def inject(self, context: RunContext, name: str) -> _Killed | _KilledMember:
        if self.group is None:
            return _Killed(context, self)
        return _KilledMember(context, self.group, self.phase)


class _Killed:
    def __init__(self, context: RunContext, fault: KillInstance) -> None:
        self._context, self._fault = context, fault
        wait_several(context)
        self._one = WithoutOne(context, signal.SIGKILL, number=fault.number, phase=fault.phase)
        self.target, self.at = self._one.target, self._one.at
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """What the others did after its end."""
        if self._proof is None and (others := self._one.others(self._fault.seconds)):
            self._proof = f"{self.target} ended by signal 9; {others}"
        return self._proof

    def heal(self) -> None:
        """See that there are several again: whoever started it starts it again."""
        wait_several(self._context)
        wait_works(self._context)


class _KilledMember:
    def __init__(self, context: RunContext, group: str, phase: float) -> None:
        self._context = context
        self._group = GroupMembers(context, group)
        wait_several(context, self._group)
        at_work(context, phase)
        self._before = self._group.wait_stable()
        pid = max(workers(context))
        self.target = described(context, pid)
        os.kill(pid, signal.SIGKILL)
        self.at = now()
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """That a member is gone, and the group is stable without it."""
        there = frozenset[str]() if self._proof else self._group.ids()
        if there and (gone := len(self._before - there)):
            self._proof = (
                f"{self.target} ended by signal 9; of {len(self._before)} members of "
                f"group {self._group.name} {gone} left, and it went on with {len(there)}"
            )
        return self._proof

    def heal(self) -> None:
        """See that there are several again: whoever started it starts it again."""
        wait_several(self._context, self._group)
        wait_works(self._context)

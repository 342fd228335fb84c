"""Kill each of several processes outside any group, while the others take over its work."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.rounds import Rounds
from onceproof.harness.faults.program.programs import wait_works
from onceproof.harness.faults.program.several import wait_several
from onceproof.harness.faults.program.without_one import OtherProcesses
from onceproof.harness.user_pipeline.program import PROGRAM


@dataclass(frozen=True, kw_only=True)
class KillEach:
    """SIGKILL the processes of the pipeline one after the other; all run again in between.

    All are killed, because it is not visible which instance is active and which is on standby.

    Attributes:
        seconds: maximum time for the others to process the input present at a kill.
        phase: how long after a write to kill each; see `at_work`.
    """

    kind: ClassVar[str] = "crash"
    needs = PROGRAM
    processes: int
    seconds: float = 30.0
    phase: float = 0.0

    def describe(self) -> str:
        return (
            "SIGKILL each process of the pipeline in turn, and wait up to "
            f"{self.seconds:g} s each time for the others to process the input"
        )

    def inject(self, context: RunContext, name: str) -> Rounds:
        turns = NextProcess()
        return Rounds([lambda: _Killed(context, self, turns)] * self.processes)


class NextProcess:
    """Choose the next process."""

    def __init__(self) -> None:
        self._left: set[int] = set()
        self._turn = 0

    def pick(self, pids: Sequence[int]) -> int:
        """Return one of these process ids, which are sorted.

        Prefer one that existed at the last turn; if all were started since, take the next in order.
        """
        left = [pid for pid in pids if pid in self._left]
        picked = left[0] if left else pids[self._turn % len(pids)]
        self._left = set(pids) - {picked}
        self._turn += 1
        return picked


class _Killed:
    def __init__(self, context: RunContext, fault: KillEach, turns: NextProcess) -> None:
        self._context, self._fault = context, fault
        wait_several(context)
        self._one = OtherProcesses(context, signal.SIGKILL, pick=turns.pick, phase=fault.phase)
        self.target, self.at = self._one.target, self._one.at
        self._proof: str | None = None

    def evidence(self) -> str | None:
        if self._proof is None and (others := self._one.others(self._fault.seconds)):
            self._proof = f"{self.target} ended by signal 9; {others}"
        return self._proof

    def heal(self) -> None:
        """Wait until there are several processes again; what supervises them restarts them."""
        wait_several(self._context)
        wait_works(self._context)

"""Pause one of several processes while the others continue, and resume it."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.program.programs import wait_works
from onceproof.harness.faults.program.several import thaw
from onceproof.harness.faults.program.without_one import OtherProcesses
from onceproof.harness.user_pipeline.program import PROGRAM


@dataclass(frozen=True, kw_only=True)
class PauseInstance:
    """Pause one process of the pipeline, until others have processed all inputs present then.

    Attributes:
        number: which one, in the order of their ids.
        seconds: maximum duration. Others need not take over its work, or may do so only later.
        phase: how long after a write to pause it; see `at_work`.
    """

    kind: ClassVar[str] = "timeout"
    needs = PROGRAM
    number: int = 0
    seconds: float = 30.0
    phase: float = 0.0

    def describe(self) -> str:
        return (
            f"pause process {self.number} of the pipeline until the others have processed the "
            f"input, for at most {self.seconds:g} s"
        )

    def inject(self, context: RunContext, name: str) -> _Paused:
        return _Paused(context, self)


class _Paused:
    def __init__(self, context: RunContext, fault: PauseInstance) -> None:
        self._context, self._fault = context, fault
        self._one = OtherProcesses(
            context,
            signal.SIGSTOP,
            pick=lambda pids: pids[fault.number % len(pids)],
            phase=fault.phase,
        )
        self.target, self.at = self._one.target, self._one.at
        self._proof: str | None = None

    def evidence(self) -> str | None:
        if self._proof is None and (others := self._one.others(self._fault.seconds)):
            self._proof = f"{self.target} was paused for {self._one.lasted:.1f} s; {others}"
        return self._proof

    def heal(self) -> None:
        thaw(self._one.pid)
        wait_works(self._context)

"""One of several instances stands still while the others go on, and then goes on itself.

Whatever says that it is the one to work, such as a lease, has gone to another one by then.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.program.programs import at_work, program, wait_works
from onceproof.harness.faults.program.several import described, thaw, workers
from onceproof.harness.user_pipeline.program import AWAY, PROGRAM
from onceproof.harness.wait import wait_until

_UP_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class PauseInstance:
    """Pause one process of the pipeline, until others have done all that is in the input by then.

    Attributes:
        number: which one, in the order of their ids.
        seconds: how long at most. Others need not do its work, or only later.
        phase: how long after a write it comes; see `at_work`.
    """

    kind: ClassVar[str] = "timeout"
    needs = PROGRAM
    number: int = 0
    seconds: float = 30.0
    phase: float = 0.0

    def describe(self) -> str:
        return (
            f"pause process {self.number} of the pipeline until others have done what is in the "
            f"input, at most {self.seconds:g} s"
        )

    def inject(self, context: RunContext, name: str) -> _Paused:
        return _Paused(context, self)


class _Paused:
    def __init__(self, context: RunContext, fault: PauseInstance) -> None:
        self._context, self._fault = context, fault
        self._proof: str | None = None
        at_work(context, fault.phase)
        pids = wait_until(
            lambda: pids if len(pids := sorted(workers(context))) > 1 else None,
            what="several processes of the pipeline to be connected to brokers",
            seconds=_UP_SECONDS,
            every=0.2,
            stop=context.stop,
        )
        self._pid = pids[fault.number % len(pids)]
        self.target = described(context, self._pid)
        os.kill(self._pid, signal.SIGSTOP)
        self.at = now()
        self._past = program(context).look.getting_past(context.input_ends())

    def evidence(self) -> str | None:
        """That others went on past all that it may have had in hand, or how long it stood still."""
        if self._proof is None:
            seconds = (now() - self.at) / 1e9
            if self._others_did():
                others = "others have written beyond all that was in the input"
            elif seconds >= self._fault.seconds:
                others = "others have not done all that was in the input"
            else:
                return None
            self._proof = f"{self.target} stood still for {seconds:.1f} s; {others}"
        return self._proof

    def heal(self) -> None:
        thaw(self._pid)
        wait_works(self._context)

    def _others_did(self) -> bool:
        with suppress(*AWAY):
            return self._past()
        return False

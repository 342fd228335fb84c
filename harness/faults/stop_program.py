"""SIGTERM to a program of somebody's own, as a deployment ends it; started again when healed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.programs import at_work, program, start_again
from onceproof.harness.run_context import RunContext
from onceproof.harness.user_pipeline.program import PROGRAM


@dataclass(frozen=True, kw_only=True)
class StopProgram:
    """SIGTERM to the program while it works."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = PROGRAM
    phase: float = 0.0
    """How long after a write it is asked; see `at_work`."""

    def describe(self) -> str:
        return "SIGTERM to the pipeline"

    def inject(self, context: RunContext, name: str) -> _Stopped:
        """Ask it to end when it is at work."""
        return _Stopped(context, name, self.phase)


BY_HAND: Final = ByHand(
    name="stop-program",
    takes=(),
    example="stop-program",
    says="ask a pipeline of your own to end (SIGTERM); it is started again when healed",
    make=StopProgram,
)


class _Stopped:
    def __init__(self, context: RunContext, name: str, phase: float) -> None:
        self._context = context
        self._program = program(context)
        at_work(context, phase)
        self._process = self._program.stop(f"SIGTERM by fault «{name}»")
        self.at = now()
        self.target = self._process.instance

    def evidence(self) -> str | None:
        """Its end, and how all of it came to one."""
        return f"{self.target} {self._process.ended}: {self._process.how}"

    def heal(self) -> None:
        """Start it again, and see that it writes."""
        start_again(self._context)

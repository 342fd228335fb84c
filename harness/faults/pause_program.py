"""A program of somebody's own paused: it misses what happens, and goes on as if nothing had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.programs import at_work, program, wait_works
from onceproof.harness.run_context import RunContext
from onceproof.harness.user_pipeline.program import PROGRAM


@dataclass(frozen=True, kw_only=True)
class PauseProgram:
    """Stop the program and all that it started in its tracks."""

    kind: ClassVar[str] = "timeout"
    needs: ClassVar[str | None] = PROGRAM

    def describe(self) -> str:
        return "pause the pipeline"

    def inject(self, context: RunContext, name: str) -> _Paused:
        """Pause it when it is at work."""
        return _Paused(context)


BY_HAND: Final = ByHand(
    name="pause-program",
    takes=(),
    example="pause-program",
    says="pause a pipeline of your own with all its processes",
    make=PauseProgram,
)


class _Paused:
    def __init__(self, context: RunContext) -> None:
        self._context = context
        program_ = program(context)
        at_work(context)
        self._process = program_.pause()
        self.at = now()
        self.target = self._process.instance
        self._acknowledged = context.producers.acknowledged

    def evidence(self) -> str | None:
        """That it stands still, and what it has missed meanwhile."""
        missed = self._context.producers.acknowledged - self._acknowledged
        if not missed or not self._process.frozen():
            return None
        return (
            f"all {self._process.members()} processes of {self.target} stand still; meanwhile "
            f"{missed} records were acknowledged"
        )

    def heal(self) -> None:
        """Let it go on, and see that it writes."""
        self._process.thaw()
        wait_works(self._context)

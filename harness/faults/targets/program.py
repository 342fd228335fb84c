"""Your own program, as `onceproof verify` runs it, with everything that it started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, cast

from onceproof.harness.clock import now
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.message import Message
from onceproof.harness.faults.programs import at_work, program, start_again, wait_works
from onceproof.harness.faults.targets.base import Verb, Victim
from onceproof.harness.faults.targets.program_commit import KilledProgram, Moment, messages
from onceproof.harness.run_context import RunContext
from onceproof.harness.user_pipeline.program import PROGRAM


@dataclass(frozen=True, kw_only=True)
class Program(Victim):
    """The program, struck while it works.

    Attributes:
        phase: how long after a write, as a part of its usual pause between two; see `at_work`.
    """

    written: ClassVar[str] = "program"
    example: ClassVar[str] = "program"
    windows: ClassVar[Mapping[Verb, Mapping[str, str]]] = {
        "kill": {
            "before-commit": "before its commit arrives",
            "after-commit": "before it hears that its commit was taken",
        }
    }
    phase: float = 0.0

    def describe(self) -> str:
        return "the pipeline"

    def needs(self, verb: Verb, at: str | None) -> str | None:
        return PROGRAM

    def moment(self, verb: Verb, at: str | None) -> str:
        if verb == "kill" and at is None:
            return "while inputs wait for their effects"
        return super().moment(verb, at)

    def message(self, at: str | None) -> Message | None:
        return messages(cast("Moment", at))[0] if at else None

    def kill(self, context: RunContext, name: str, at: str | None) -> Injection:
        """SIGKILL it; at once, too, where a window is asked for and it commits nothing to Kafka."""
        return KilledProgram(context, name, cast("Moment | None", at), self.phase)

    def stop(self, context: RunContext, name: str, at: str | None) -> Injection:
        """SIGTERM it, as a deployment ends it; it is started again when healed."""
        return _Stopped(context, name, self.phase)

    def pause(self, context: RunContext, name: str, at: str | None) -> Injection:
        """Stop it in its tracks: it misses what happens, and goes on as if nothing had."""
        return _Paused(context)


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

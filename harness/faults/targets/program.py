"""Your own program, with all of its child processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final, cast

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.program.inputs_in_hand import FETCH
from onceproof.harness.faults.program.programs import at_work, program, start_again, wait_works
from onceproof.harness.faults.targets.base import Verb, Victim
from onceproof.harness.faults.targets.ended import EndedProcess
from onceproof.harness.faults.targets.paused_processes import PausedProcesses
from onceproof.harness.faults.targets.program_commit import KilledProgram, Moment, messages
from onceproof.harness.faults.targets.stopped_program import StoppedWithInputs
from onceproof.harness.user_pipeline.program import PROGRAM

IN_HAND: Final = "in-hand"


@dataclass(frozen=True, kw_only=True)
class Program(Victim):
    """The program, at work."""

    written: ClassVar[str] = "program"
    example: ClassVar[str] = "program"
    windows: ClassVar[Mapping[Verb, Mapping[str, str]]] = {
        "kill": {
            "before-commit": "before its commit arrives",
            "after-commit": "before it learns that its commit succeeded",
        },
        "stop": {IN_HAND: "while it has inputs that it has read but not written"},
    }
    phase: float = 0.0
    """How long after a write to act; see `at_work`."""

    def describe(self) -> str:
        return "the pipeline"

    def needs(self, verb: Verb, at: str | None) -> str | None:
        return PROGRAM

    def moment(self, verb: Verb, at: str | None) -> str:
        if verb == "kill" and at is None:
            return "while it has unprocessed inputs"
        return super().moment(verb, at)

    def message(self, at: str | None) -> Message | None:
        if at == IN_HAND:
            return FETCH
        return messages(cast("Moment", at))[0] if at else None

    def kill(self, context: RunContext, name: str, at: str | None) -> Injection:
        """Send SIGKILL; outside the window `at` if the pipeline never commits to Kafka."""
        return KilledProgram(context, name, cast("Moment | None", at), self.phase)

    def stop(self, context: RunContext, name: str, at: str | None) -> Injection:
        if at == IN_HAND:
            return StoppedWithInputs(context, name, self.phase)
        program_ = program(context)
        at_work(context, self.phase)
        stop = partial(program_.stop, f"SIGTERM by fault «{name}»")
        return EndedProcess(stop, partial(start_again, context))

    def pause(self, context: RunContext, name: str, at: str | None) -> Injection:
        program_ = program(context)
        at_work(context)
        return PausedProcesses(
            context, lambda: [program_.pause()], heal=partial(wait_works, context)
        )

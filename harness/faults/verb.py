"""Base class of `kill`, `stop` and `pause`."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.targets.base import Verb, Victim, check
from onceproof.harness.faults.victims import victim
from onceproof.harness.faults.words import Word


@dataclass(frozen=True)
class VerbFault:
    """A verb applied to a target."""

    verb: ClassVar[Verb]
    word: ClassVar[str]
    """The verb as used in sentences."""
    target: Annotated[Victim, Word("TARGET", victim)]
    _: KW_ONLY
    at: Annotated[str | None, Word("WINDOW", option=True)] = None
    """A window of the target's work; None acts at once."""

    def __post_init__(self) -> None:
        """Raise `ValueError` if the target does not support the verb or the window."""
        check(self.target, self.verb, self.at)

    @property
    def needs(self) -> str | None:
        return self.target.needs(self.verb, self.at)

    @property
    def message(self) -> Message | None:
        """The message that the fault waits for; the stage puts a gate on its link."""
        return self.target.message(self.at)

    def describe(self) -> str:
        until = self.target.paused_until if self.verb == "pause" else ""
        moment = self.target.moment(self.verb, self.at)
        return " ".join(filter(None, (self.word, self.target.describe(), moment, until)))

    def inject(self, context: RunContext, name: str) -> Injection:
        act = {"kill": self.target.kill, "stop": self.target.stop, "pause": self.target.pause}
        return act[self.verb](context, name, self.at)

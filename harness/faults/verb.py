"""What `kill`, `stop` and `pause` have in common: a target, and a window of its work."""

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
    """A verb, done to a target.

    Attributes:
        at: a window of its work, of those that the target has; without one, at once.
    """

    verb: ClassVar[Verb]
    word: ClassVar[str]
    """The verb in sentences."""
    target: Annotated[Victim, Word("TARGET", victim)]
    _: KW_ONLY
    at: Annotated[str | None, Word("WINDOW", option=True)] = None

    def __post_init__(self) -> None:
        """Raises `ValueError` for what the target does not support."""
        check(self.target, self.verb, self.at)

    @property
    def needs(self) -> str | None:
        return self.target.needs(self.verb, self.at)

    @property
    def message(self) -> Message | None:
        """The message that it waits for, so that there is a gate on its way."""
        return self.target.message(self.at)

    def describe(self) -> str:
        until = self.target.paused_until if self.verb == "pause" else ""
        moment = self.target.moment(self.verb, self.at)
        return " ".join(filter(None, (self.word, self.target.describe(), moment, until)))

    def inject(self, context: RunContext, name: str) -> Injection:
        act = {"kill": self.target.kill, "stop": self.target.stop, "pause": self.target.pause}
        return act[self.verb](context, name, self.at)

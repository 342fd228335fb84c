"""What can be killed, stopped or paused, and in which windows of its work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, Self, get_args

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.messages.message import Message

Verb = Literal["kill", "stop", "pause"]
VERBS: Final[tuple[Verb, ...]] = get_args(Verb)


class Victim:
    """One part of a run. Subclasses are frozen dataclasses that override the verbs they support.

    Attributes:
        written: how it is written by hand, such as `member-<n>`.
        example: a word of that form.
        windows: for each verb, the windows of its work that `--at` takes, and each in words.
        paused_until: what a pause lasts until, in words, if it is to cause something.
    """

    written: ClassVar[str]
    example: ClassVar[str]
    windows: ClassVar[Mapping[Verb, Mapping[str, str]]] = {}
    paused_until: ClassVar[str] = ""

    @classmethod
    def parse(cls, word: str) -> Self | None:
        """The one that a word names; None if it names another kind."""
        return cls() if word == cls.written else None

    @classmethod
    def verbs(cls) -> tuple[Verb, ...]:
        """What can be done to it."""
        return tuple(verb for verb in VERBS if getattr(cls, verb) is not getattr(Victim, verb))

    def describe(self) -> str:
        """In words, as in `the Spark driver`."""
        raise NotImplementedError

    def needs(self, verb: Verb, at: str | None) -> str | None:
        """What the stage or the subject must offer; see `Fault.needs`."""
        raise NotImplementedError

    def moment(self, verb: Verb, at: str | None) -> str:
        """A window in words, to stand behind what is done; empty for none.

        Raises:
            ValueError: there is no such window.
        """
        windows = self.windows.get(verb, {})
        if at is None:
            return ""
        if at not in windows:
            known = " or ".join(windows) or f"none: {verb} {self.example} takes no window"
            raise ValueError(f"invalid window {at!r}: expected {known}")
        return windows[at]

    def message(self, at: str | None) -> Message | None:
        """The message that is waited for, so that there is a gate on its way."""
        return None

    def kill(self, context: RunContext, name: str, at: str | None) -> Injection:
        """SIGKILL it for the fault `name`, at once or in a window."""
        raise NotImplementedError

    def stop(self, context: RunContext, name: str, at: str | None) -> Injection:
        """Ask it to end by SIGTERM, or as its own tools do."""
        raise NotImplementedError

    def pause(self, context: RunContext, name: str, at: str | None) -> Injection:
        """Stop its processes in their tracks."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Numbered(Victim):
    """One of several of a kind, by its name, such as `member-0`."""

    name: str

    @classmethod
    def parse(cls, word: str) -> Self | None:
        kind = cls.written.removesuffix("-<n>")
        return cls(name=word) if is_numbered(word, kind) else None

    def describe(self) -> str:
        return self.name


def check(victim: Victim, verb: Verb, at: str | None) -> None:
    """Refuse what cannot be done.

    Raises:
        ValueError: the verb is not supported, or has no such window.
    """
    if verb not in victim.verbs():
        raise ValueError(f"cannot {verb} {victim.example}: expected {' or '.join(victim.verbs())}")
    victim.moment(verb, at)


def is_numbered(word: str, kind: str) -> bool:
    """Whether a word names one of several of a kind, as `member-0` does."""
    name, _, number = word.partition("-")
    return name == kind and number.isascii() and number.isdigit()

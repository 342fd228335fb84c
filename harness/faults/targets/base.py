"""Base classes of what can be killed, stopped or paused, at once or in a window of its work."""

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
    """A part of a run. Subclasses are frozen dataclasses that override the supported verbs.

    Attributes:
        written: its syntax, such as `member-<n>`; `example` is a word of that syntax.
        windows: for each verb, the windows that `--at` accepts, with descriptions.
        paused_until: description of what a pause lasts for, if it must cause something.
    """

    written: ClassVar[str]
    example: ClassVar[str]
    windows: ClassVar[Mapping[Verb, Mapping[str, str]]] = {}
    paused_until: ClassVar[str] = ""

    @classmethod
    def parse(cls, word: str) -> Self | None:
        """Parse a word; None if it names another kind."""
        return cls() if word == cls.written else None

    @classmethod
    def verbs(cls) -> tuple[Verb, ...]:
        return tuple(verb for verb in VERBS if getattr(cls, verb) is not getattr(Victim, verb))

    def describe(self) -> str:
        """Describe it, as in `the Spark driver`."""
        raise NotImplementedError

    def needs(self, verb: Verb, at: str | None) -> str | None:
        """Return what the stage or the subject must offer; see `Fault.needs`."""
        raise NotImplementedError

    def moment(self, verb: Verb, at: str | None) -> str:
        """Return the words for a window, empty for None; raise `ValueError` if it is unknown."""
        windows = self.windows.get(verb, {})
        if at is None:
            return ""
        if at not in windows:
            known = " or ".join(windows) or f"none: {verb} {self.example} takes no window"
            raise ValueError(f"invalid window {at!r}: expected {known}")
        return windows[at]

    def message(self, at: str | None) -> Message | None:
        """Return the message that a window waits for, which needs a gate; None if there is none."""
        return None

    def kill(self, context: RunContext, name: str, at: str | None) -> Injection:
        """Send SIGKILL for the fault `name`, at once or in a window."""
        raise NotImplementedError

    def stop(self, context: RunContext, name: str, at: str | None) -> Injection:
        """Send SIGTERM, or use its own tools."""
        raise NotImplementedError

    def pause(self, context: RunContext, name: str, at: str | None) -> Injection:
        """Send SIGSTOP to its processes, or use its own tools."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Numbered(Victim):
    """One of several of a kind, such as `member-0`."""

    name: str

    @classmethod
    def parse(cls, word: str) -> Self | None:
        kind = cls.written.removesuffix("-<n>")
        return cls(name=word) if is_numbered(word, kind) else None

    def describe(self) -> str:
        return self.name


def check(victim: Victim, verb: Verb, at: str | None) -> None:
    """Raise `ValueError` if the target does not support the verb or the window."""
    if verb not in victim.verbs():
        raise ValueError(f"cannot {verb} {victim.example}: expected {' or '.join(victim.verbs())}")
    victim.moment(verb, at)


def is_numbered(word: str, kind: str) -> bool:
    """Whether a word is a kind and a number, such as `member-0`."""
    name, _, number = word.partition("-")
    return name == kind and number.isascii() and number.isdigit()

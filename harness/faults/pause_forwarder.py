"""A forwarder paused until the broker has given it up, then let go on: a zombie.

What it had taken is with somebody else by then, and it does not know. The
broker has rolled its transaction back; whatever it does without one counts all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.faults.forwarders import AtMoment, at_moment, forwarders
from onceproof.harness.run_context import RunContext


@dataclass(frozen=True, kw_only=True)
class PauseForwarder(AtMoment):
    """Pause a forwarder, by name, at a moment, until the broker knows it no more."""

    kind: ClassVar[str] = "timeout"

    def describe(self) -> str:
        return f"pause {self.forwarder} at its moment {self.moment} until the broker gives it up"

    def inject(self, context: RunContext, name: str) -> _Paused:
        """Wait until it is there, and pause it."""
        return _Paused(context, self.forwarder, self.moment)


BY_HAND: Final = at_moment(
    "pause-forwarder",
    PauseForwarder,
    "pause a forwarder before it writes (before-write), before what it took is consumed "
    "(before-commit), or after (after-commit), until the broker has given it up",
)


class _Paused:
    def __init__(self, context: RunContext, who: str, when: str) -> None:
        self._forwarders = forwarders(context)
        self._who, self._when = who, when
        with self._forwarders.standing(who, when) as self._record:
            self.at = now()
            self._process = self._forwarders.pause(who)
        self.target = self._process.instance

    def evidence(self) -> str | None:
        """That it stands still, and what it had was given to another."""
        if not self._process.frozen():
            return None
        other = self._forwarders.given(self._record, since=self.at, but=self._who)
        if other is None:
            return None
        return (
            f"{self.target} stands still {self._when} of {self._record}, which the broker has "
            f"given to {other} since"
        )

    def heal(self) -> None:
        """Let it go on, and see that the broker has it again."""
        self._forwarders.let_go(self._who)
        self._process.thaw()
        self._forwarders.wait_consuming()

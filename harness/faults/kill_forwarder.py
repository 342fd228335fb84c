"""SIGKILL of a forwarder while it stands still at a moment; it is started again when healed.

What it had taken and not consumed the broker gives to somebody else, as soon
as the connection is gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.faults.forwarders import AtMoment, at_moment, forwarders
from onceproof.harness.run_context import RunContext


@dataclass(frozen=True, kw_only=True)
class KillForwarder(AtMoment):
    """SIGKILL a forwarder, by name, at a moment."""

    kind: ClassVar[str] = "crash"

    def describe(self) -> str:
        return f"SIGKILL {self.forwarder} at its moment {self.moment}"

    def inject(self, context: RunContext, name: str) -> _Killed:
        """Wait until it is there, and kill it."""
        return _Killed(context, name, self.forwarder, self.moment)


BY_HAND: Final = at_moment(
    "kill-forwarder",
    KillForwarder,
    "SIGKILL a forwarder before it writes (before-write), before what it took is consumed "
    "(before-commit), or after (after-commit); it is started again when healed",
)


class _Killed:
    def __init__(self, context: RunContext, name: str, who: str, when: str) -> None:
        self._forwarders = forwarders(context)
        self._who, self._when = who, when
        with self._forwarders.standing(who, when) as self._record:
            self.at = now()
            self._process = self._forwarders.kill(who, f"SIGKILL by fault «{name}»")
        self.target = self._process.instance
        self._forwarders.let_go(who)

    def evidence(self) -> str | None:
        """Its end, and with which record it stood still."""
        return f"{self.target} {self._process.ended}; it stood still {self._when} of {self._record}"

    def heal(self) -> None:
        """Start it again, and see that it consumes."""
        self._forwarders.restart(self._who)
        self._forwarders.wait_consuming()

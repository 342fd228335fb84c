"""SIGKILL of the queue broker while a forwarder stands still at a moment.

What the forwarder has written is with the broker, and what it took is not
yet consumed. When both go on, the broker delivers it again; only a transaction, or an identity that
the broker still knows in its next life, keeps the effect from being there twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.faults.forwarders import AtMoment, at_moment, forwarders
from onceproof.harness.faults.services import QUEUE_BROKER, Ended
from onceproof.harness.run_context import RunContext


@dataclass(frozen=True, kw_only=True)
class KillQueueBrokerAt(AtMoment):
    """SIGKILL the queue broker at a moment of a forwarder."""

    kind: ClassVar[str] = "crash"

    def describe(self) -> str:
        return f"SIGKILL the queue broker at the moment {self.moment} of {self.forwarder}"

    def inject(self, context: RunContext, name: str) -> _Killed:
        """Wait until the forwarder is there, and kill the broker."""
        return _Killed(context, name, self.forwarder, self.moment)


BY_HAND: Final = at_moment(
    "kill-queue-broker-at",
    KillQueueBrokerAt,
    "SIGKILL the queue broker when a forwarder is about to write (before-write), about to "
    "have what it took consumed (before-commit), or has (after-commit)",
)


class _Killed:
    def __init__(self, context: RunContext, name: str, who: str, when: str) -> None:
        self._forwarders = forwarders(context)
        self._who = who
        with self._forwarders.standing(who, when) as record:
            how = context.stage.kill(QUEUE_BROKER.node, f"SIGKILL by fault «{name}»")
            where = f"{who} stood still {when} of {record}"
            self._ended = Ended(context, QUEUE_BROKER, f"{how}; {where}")
        self.target, self.at = self._ended.target, self._ended.at

    def evidence(self) -> str | None:
        """How it ended, where the forwarder stood, and that nobody answers in its place."""
        return self._ended.evidence()

    def heal(self) -> None:
        """Restart it, let the forwarder go on, and see that all of them consume."""
        self._ended.heal()
        self._forwarders.let_go(self._who)
        self._forwarders.wait_consuming()

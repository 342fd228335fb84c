"""A producer paused: it stands still amid what it was at, and goes on later as if nothing had been.

Unlike a dead one it keeps its connections and its transaction; what it sent
before is answered meanwhile, and it reads the answers when it comes back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.senders import sender
from onceproof.harness.run_context import RunContext
from onceproof.harness.wait import wait_until

_SECONDS: Final = 1.0
"""Far longer than a producer that is at work stays silent."""


@dataclass(frozen=True, kw_only=True)
class PauseProducer:
    """Pause a producer, by name."""

    kind: ClassVar[str] = "timeout"
    needs: ClassVar[str | None] = None
    producer: str = "producer-0"

    def describe(self) -> str:
        return f"pause {self.producer}"

    def inject(self, context: RunContext, name: str) -> _Paused:
        """Pause it."""
        return _Paused(context, self.producer)


BY_HAND: Final = ByHand(
    name="pause-producer",
    takes=("PRODUCER",),
    example="pause-producer producer-0",
    says="pause a producer: it keeps its connections and says nothing",
    make=lambda who: PauseProducer(producer=sender(who)),
)


class _Paused:
    def __init__(self, context: RunContext, who: str) -> None:
        self._context = context
        self.at = now()
        self._process = context.producers.pause(who)
        self.target = self._process.instance
        self._said = context.producers.told(self._process.name).moved
        self._still_since = self.at

    def evidence(self) -> str | None:
        """The kernel's word that it stands still, and its own silence."""
        said = self._context.producers.told(self._process.name).moved
        if said != self._said:  # its last words were still in the pipe
            self._said, self._still_since = said, now()
        if now() - self._still_since < _SECONDS * 1e9 or not self._process.frozen():
            return None
        called, acknowledged, _ = said
        return (
            f"every thread of {self.target} is stopped; nothing heard of it for more than "
            f"{_SECONDS:g} s, since {called} sends, {acknowledged} of them acknowledged"
        )

    def heal(self) -> None:
        """Let it go on, and see that it does.

        Raises:
            Overdue: it does not in time.
            ProducerTrouble: it ended before its work was done.
        """
        producers, name = self._context.producers, self._process.name
        self._process.thaw()
        wait_until(
            lambda: producers.told(name).moved != self._said or producers.ended(name),
            what=f"{self.target} to be heard of again",
            seconds=60,
            stop=self._context.stop,
            seen=lambda: producers.told(name),
        )

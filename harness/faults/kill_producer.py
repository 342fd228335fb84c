"""SIGKILL of a producer; when healed, its next life goes on under the same transactional id.

What it had called and not heard of stays unknown for ever. Its next life
sends what was not called yet, as an application would that keeps its place before it sends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.senders import sender
from onceproof.harness.run_context import RunContext
from onceproof.harness.stage.processes import Process
from onceproof.harness.wait import wait_until


@dataclass(frozen=True, kw_only=True)
class KillProducer:
    """SIGKILL a producer, by name."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = None
    producer: str = "producer-0"

    def describe(self) -> str:
        return f"SIGKILL {self.producer}"

    def inject(self, context: RunContext, name: str) -> EndedProducer:
        """Kill it."""
        end = partial(context.producers.kill, self.producer, f"SIGKILL by fault «{name}»")
        return EndedProducer(context, self.producer, end)


BY_HAND: Final = ByHand(
    name="kill-producer",
    takes=("PRODUCER",),
    example="kill-producer producer-0",
    says="SIGKILL a producer; when healed, its next life sends what it had not called",
    make=lambda who: KillProducer(producer=sender(who)),
)


class EndedProducer:
    """A producer that was made to end."""

    def __init__(self, context: RunContext, who: str, end: Callable[[], Process]) -> None:
        """`end` ends it and returns the life that is over."""
        self._context, self._who = context, who
        self.at = now()
        self._process = end()
        self.target = self._process.instance
        self._life: str | None = None

    def evidence(self) -> str | None:
        """Its end, and what it had said by then."""
        said = self._context.producers.told(self._process.name)
        unknown = said.called - said.ok - said.not_ok
        return (
            f"{self.target} {self._process.ended}; it had told of {said.called} sends, {unknown} "
            "of them without an outcome"
        )

    def heal(self) -> None:
        """Start its next life, and see that it gets on.

        Raises:
            Overdue: it does not in time.
            ProducerTrouble: it ended before its work was done.
        """
        producers = self._context.producers
        if self._life is None:
            self._life = producers.go_on(self._who)
        life = self._life
        wait_until(
            lambda: producers.told(life).ok > 0 or producers.ended(life),
            what=f"{life} to be told of a send",
            seconds=60,
            stop=self._context.stop,
            seen=lambda: producers.told(life),
        )

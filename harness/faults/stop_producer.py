"""SIGTERM to a producer, as a deployment ends it; when healed, its next life goes on.

As for `kill-producer`, what it had called and not heard of is not sent
again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.kill_producer import EndedProducer
from onceproof.harness.faults.senders import sender
from onceproof.harness.run_context import RunContext


@dataclass(frozen=True, kw_only=True)
class StopProducer:
    """SIGTERM to a producer, by name."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = None
    producer: str = "producer-0"

    def describe(self) -> str:
        return f"SIGTERM to {self.producer}"

    def inject(self, context: RunContext, name: str) -> EndedProducer:
        """Ask it to end."""
        end = partial(context.producers.end, self.producer, f"SIGTERM by fault «{name}»")
        return EndedProducer(context, self.producer, end)


BY_HAND: Final = ByHand(
    name="stop-producer",
    takes=("PRODUCER",),
    example="stop-producer producer-0",
    says="ask a producer to end (SIGTERM); when healed, its next life sends what it had not called",
    make=lambda who: StopProducer(producer=sender(who)),
)

"""A broker is killed while the pipeline starts, so that its first questions find nobody.

Where it goes on from is asked of its group's coordinator, or read from what it has written. Who
takes no answer for an empty one begins anew, or skips what it has not read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.messages.message import Message, met
from onceproof.harness.faults.program.programs import (
    at_work,
    life,
    start_again,
    started_anew,
    wait_went_on,
)
from onceproof.harness.faults.targets.broker_ended import KilledBroker
from onceproof.harness.wait import wait_until

_START_SECONDS: Final = 60.0
METADATA: Final = Message(source="pipeline", direction="request", api="Metadata")
"""What every client asks first."""


class KilledAtStart:
    """A broker killed before the pipeline, started anew, got its first answer about metadata."""

    def __init__(
        self, context: RunContext, resolve: Callable[[RunContext], str], name: str
    ) -> None:
        """Kill and start the pipeline, and kill the broker when it asks for metadata."""
        self._context = context
        at_work(context)
        held = METADATA.rule("hold", times=None)
        with started_anew(context, name, held) as (_, asked):
            first, *_ = wait_until(
                asked.fired,
                what="the pipeline to ask for metadata after its start",
                seconds=_START_SECONDS,
                every=0.005,
                stop=context.stop,
            )
            self._broker = KilledBroker(context, resolve(context), name)
        self._asked = met(first)
        self.target, self.at = self._broker.target, self._broker.at

    def evidence(self) -> str | None:
        """The end of the broker, and who leads now what it led."""
        proof = self._broker.evidence()
        return proof and f"the pipeline asked for metadata and got none yet: {self._asked}; {proof}"

    def heal(self) -> None:
        """Start the broker again, and see that the pipeline commits what came behind all that."""
        self._broker.heal()
        start_again(self._context)
        # Whoever conducts this waits only for a life that was there before it.
        wait_went_on(self._context, life(self._context))

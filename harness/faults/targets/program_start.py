"""Kill a broker while the pipeline starts, so that its first requests fail.

The pipeline asks the group coordinator where to resume, or reads its own outputs. One that takes a
missing answer for an empty one starts over, or skips inputs.
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
"""The first request of every client."""


class KilledAtStart:
    """A broker that was killed before the restarted pipeline got its first metadata."""

    def __init__(
        self, context: RunContext, resolve: Callable[[RunContext], str], name: str
    ) -> None:
        """Restart the pipeline, and kill the broker when the pipeline asks for metadata."""
        self._context = context
        at_work(context)
        held = METADATA.rule("hold", times=None)
        with started_anew(context, name, held) as (_, asked):
            first, *_ = wait_until(
                asked.fired,
                what="the restarted pipeline to request metadata",
                seconds=_START_SECONDS,
                every=0.005,
                stop=context.stop,
            )
            self._broker = KilledBroker(context, resolve(context), name)
        self._asked = met(first)
        self.target, self.at = self._broker.target, self._broker.at

    def evidence(self) -> str | None:
        proof = self._broker.evidence()
        return proof and f"the pipeline waited for metadata: {self._asked}; {proof}"

    def heal(self) -> None:
        """Restart the broker, and wait until the pipeline has committed later inputs."""
        self._broker.heal()
        start_again(self._context)
        # The schedule waits only for an instance that was running before the fault.
        wait_went_on(self._context, life(self._context))

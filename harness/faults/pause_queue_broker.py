"""The queue broker paused: clients wait for its answers until they give it up.

When it goes on, it has clients whose connections it believes to be there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.services import QUEUE_BROKER, PauseService, Service


@dataclass(frozen=True, kw_only=True)
class PauseQueueBroker(PauseService):
    """Stop the queue broker in its tracks."""

    needs: ClassVar[str | None] = QUEUE_BROKER.needs
    service: ClassVar[Service] = QUEUE_BROKER


BY_HAND: Final = ByHand(
    name="pause-queue-broker",
    takes=(),
    example="pause-queue-broker",
    says="pause the queue broker: it keeps its connections and does not answer",
    make=PauseQueueBroker,
)

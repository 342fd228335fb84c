"""The queue broker asked to end: it disconnects everybody, and writes down what it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.services import QUEUE_BROKER, Service, StopService


@dataclass(frozen=True, kw_only=True)
class StopQueueBroker(StopService):
    """Shut the queue broker down."""

    needs: ClassVar[str | None] = QUEUE_BROKER.needs
    service: ClassVar[Service] = QUEUE_BROKER


BY_HAND: Final = ByHand(
    name="stop-queue-broker",
    takes=(),
    example="stop-queue-broker",
    says="shut the queue broker down; it is restarted when healed",
    make=StopQueueBroker,
)

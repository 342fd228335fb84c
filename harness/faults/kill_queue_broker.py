"""SIGKILL of the queue broker; its next life recovers from its journal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.services import QUEUE_BROKER, KillService, Service


@dataclass(frozen=True, kw_only=True)
class KillQueueBroker(KillService):
    """SIGKILL the queue broker."""

    needs: ClassVar[str | None] = QUEUE_BROKER.needs
    service: ClassVar[Service] = QUEUE_BROKER


BY_HAND: Final = ByHand(
    name="kill-queue-broker",
    takes=(),
    example="kill-queue-broker",
    says="SIGKILL the queue broker; it is restarted when healed",
    make=KillQueueBroker,
)

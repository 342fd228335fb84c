"""The database asked to end at once: it disconnects everybody, and writes down what it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.services import DATABASE, Service, StopService


@dataclass(frozen=True, kw_only=True)
class StopDatabase(StopService):
    """Shut the database down, without waiting for its clients."""

    needs: ClassVar[str | None] = DATABASE.needs
    service: ClassVar[Service] = DATABASE


BY_HAND: Final = ByHand(
    name="stop-database",
    takes=(),
    example="stop-database",
    says="shut the database down; it is restarted when healed",
    make=StopDatabase,
)

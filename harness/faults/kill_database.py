"""SIGKILL of the database; its next life recovers from its log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.services import DATABASE, KillService, Service


@dataclass(frozen=True, kw_only=True)
class KillDatabase(KillService):
    """SIGKILL the database with all its processes."""

    needs: ClassVar[str | None] = DATABASE.needs
    service: ClassVar[Service] = DATABASE


BY_HAND: Final = ByHand(
    name="kill-database",
    takes=(),
    example="kill-database",
    says="SIGKILL the database; it is restarted when healed",
    make=KillDatabase,
)

"""The database paused: it accepts, says nothing, and later goes on as if nothing had happened.

Transactions that were open stay open, and their locks with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.services import DATABASE, PauseService, Service


@dataclass(frozen=True, kw_only=True)
class PauseDatabase(PauseService):
    """Stop all processes of the database in their tracks."""

    needs: ClassVar[str | None] = DATABASE.needs
    service: ClassVar[Service] = DATABASE


BY_HAND: Final = ByHand(
    name="pause-database",
    takes=(),
    example="pause-database",
    says="pause the database: it keeps its connections and does not answer",
    make=PauseDatabase,
)

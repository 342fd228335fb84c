"""SIGKILL of the database; its next life recovers from its log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from harness.bench import Bench
from harness.faults.by_hand import ByHand
from harness.faults.database import Ended
from harness.stage.topology import POSTGRES


@dataclass(frozen=True, kw_only=True)
class KillDatabase:
    """SIGKILL the database with all its processes."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = "database"

    def describe(self) -> str:
        """The act in words."""
        return "SIGKILL the database"

    def inject(self, bench: Bench, name: str) -> Ended:
        """Kill it."""
        return Ended(bench, bench.stage.kill(POSTGRES, f"SIGKILL by fault «{name}»"))


BY_HAND: Final = ByHand(
    name="kill-database",
    takes=(),
    example="kill-database",
    says="SIGKILL the database; it is restarted when healed",
    make=KillDatabase,
)

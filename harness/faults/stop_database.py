"""The database asked to end at once: it disconnects everybody, and writes down what it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from harness.bench import Bench
from harness.faults.by_hand import ByHand
from harness.faults.database import Ended
from harness.stage.topology import POSTGRES


@dataclass(frozen=True, kw_only=True)
class StopDatabase:
    """Shut the database down, without waiting for its clients."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = "database"

    def describe(self) -> str:
        """The act in words."""
        return "shut the database down"

    def inject(self, bench: Bench, name: str) -> Ended:
        """Ask it, and wait for its end."""
        return Ended(bench, bench.stage.shut_down(POSTGRES, f"shut down by fault «{name}»"))


BY_HAND: Final = ByHand(
    name="stop-database",
    takes=(),
    example="stop-database",
    says="shut the database down; it is restarted when healed",
    make=StopDatabase,
)

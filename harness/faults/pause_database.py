"""The database paused: it accepts, says nothing, and later goes on as if nothing had happened.

The one thing to know: transactions that were open stay open, and their locks with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from harness.bench import Aftermath, Bench
from harness.clock import now
from harness.faults.by_hand import ByHand
from harness.faults.database import answers, wait_answers
from harness.stage.topology import POSTGRES


@dataclass(frozen=True, kw_only=True)
class PauseDatabase:
    """Stop all processes of the database in their tracks."""

    kind: ClassVar[str] = "timeout"
    needs: ClassVar[str | None] = "database"

    def describe(self) -> str:
        """The act in words."""
        return "pause the database"

    def inject(self, bench: Bench, name: str) -> _Paused:
        """Pause it."""
        return _Paused(bench)


BY_HAND: Final = ByHand(
    name="pause-database",
    takes=(),
    example="pause-database",
    says="pause the database: it keeps its connections and does not answer",
    make=PauseDatabase,
)


class _Paused:
    target = POSTGRES

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.at = now()
        self._seen = bench.stage.pause(POSTGRES)
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """Its state, and that a new connection gets no answer."""
        if self._proof is None and self._bench.stage.paused(POSTGRES):
            silent = not answers(self._bench)
            self._proof = f"{self._seen}; a new connection gets no answer" if silent else None
        return self._proof

    def heal(self) -> None:
        """Let it go on, and see that it answers."""
        if self._bench.stage.paused(POSTGRES):
            self._bench.stage.resume(POSTGRES)
        wait_answers(self._bench)

    def aftermath(self, known: Aftermath) -> None:
        """Nothing more to say."""

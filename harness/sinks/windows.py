"""Sums by account and minute in PostgreSQL; the rows of a window are added up.

A sum does not identify its payments. A row names only the micro-batch that wrote it last.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onceproof.harness.sinks.base import Effect, State
from onceproof.harness.sinks.guarded import GuardedTables

WINDOW_MS: Final = 60_000
TOTAL: Final = "total"
VIEW: Final = "table"

_WINDOWS: Final = """
SELECT window_start, account, sum(total)::bigint, sum(payments)::bigint
FROM windows GROUP BY window_start, account ORDER BY window_start, account
"""


def window_key(account: str, event_ms: int) -> str:
    """Return the state key of a payment: its account and the start of its window in seconds."""
    return _key(account, event_ms // WINDOW_MS * WINDOW_MS // 1000)


def _key(account: str, start: int) -> str:
    return f"{account}@{start}"


class Windows(GuardedTables):
    """The table `windows`."""

    def __init__(self, database: str, *, sink: str) -> None:
        super().__init__(database)
        self.name = sink

    def size(self) -> int:
        rows = self.rows("SELECT coalesce(max(seq), 0) FROM windows")
        return int(rows[0][0]) if rows else 0

    def effects(self) -> list[Effect]:
        return []

    def states(self) -> list[State]:
        return list(self._states())

    def batches(self) -> frozenset[int]:
        return frozenset(batch for (batch,) in self.rows("SELECT DISTINCT batch_id FROM windows"))

    def _states(self) -> Iterator[State]:
        for start, account, total, payments in self.rows(_WINDOWS):
            for aggregate, amount in ((TOTAL, total), ("payments", payments)):
                yield State(
                    sink=self.name,
                    view=VIEW,
                    state_key=_key(account, start),
                    aggregate=aggregate,
                    amount=amount,
                )

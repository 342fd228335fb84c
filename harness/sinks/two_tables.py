"""Two PostgreSQL tables, each written by its own query, with a common guard table.

They are two sinks, and each record must have its effect in both.
"""

from __future__ import annotations

from typing import Final

from onceproof.harness.sinks.base import Effect, State
from onceproof.harness.sinks.guarded import GuardedTables
from onceproof.harness.sinks.ledger import rows_of

TABLES: Final = ("ledger", "archive")
VIEW: Final = "table"


class TwoTables(GuardedTables):
    """The tables `ledger` and `archive`."""

    name = TABLES[0]

    def __init__(self, database: str, *, topic: str) -> None:
        super().__init__(database)
        self._topic = topic

    def size(self) -> int:
        counts = (self.rows(f"SELECT count(*) FROM {table}") for table in TABLES)
        return sum(int(rows[0][0]) for rows in counts if rows)

    def effects(self) -> list[Effect]:
        return [
            effect
            for table in TABLES
            for effect in rows_of(self, table, topic=self._topic, sink=table, view=VIEW)
        ]

    def states(self) -> list[State]:
        return []

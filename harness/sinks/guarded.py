"""PostgreSQL tables with a guard table, `batches_done`, of the micro-batches that they contain.

A job creates its tables when it first starts; until then they count as empty.
"""

from __future__ import annotations

from typing import Any, Final

import psycopg

from onceproof.harness.sinks.base import AtomicBatch

_BATCHES: Final = "SELECT query_id, batch_id, seq FROM batches_done ORDER BY seq"
_OPEN: Final = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
  AND backend_type = 'client backend'
"""


class GuardedTables:
    """A database with a guard table."""

    def __init__(self, database: str) -> None:
        self._database = database

    def atomic_batches(self) -> list[AtomicBatch]:
        return [
            AtomicBatch(owner=query, batch=batch, ordinal=seq)
            for query, batch, seq in self.rows(_BATCHES)
        ]

    def hanging(self) -> bool:
        """Return whether another client's transaction is open in this database."""
        ((count,),) = self.rows(_OPEN)
        return bool(count)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Execute a query; return no rows if its tables do not exist yet."""
        with psycopg.connect(self._database) as connection:
            try:
                return connection.execute(query).fetchall()
            except psycopg.errors.UndefinedTable:
                return []

"""Tables in PostgreSQL beside those of a guard, which names every micro-batch that is in them.

A job makes its tables when it first starts; until then they are empty.
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
    """One database, as any reader of it sees it."""

    def __init__(self, database: str) -> None:
        self._database = database

    def atomic_batches(self) -> list[AtomicBatch]:
        """The guard's rows."""
        return [
            AtomicBatch(owner=query, batch=batch, ordinal=seq)
            for query, batch, seq in self.rows(_BATCHES)
        ]

    def hanging(self) -> bool:
        """Whether a transaction of somebody else is open in this database."""
        ((count,),) = self.rows(_OPEN)
        return bool(count)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What a query finds; nothing where its tables are not there yet."""
        with psycopg.connect(self._database) as connection:
            try:
                return connection.execute(query).fetchall()
            except psycopg.errors.UndefinedTable:
                return []

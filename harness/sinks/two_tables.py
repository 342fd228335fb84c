"""Two tables of PostgreSQL, each written by a query of its own, and what says which batches.

The one thing to know: they are two sinks, and one record must have its effect in both. The guard is
one table for both queries.
"""

from __future__ import annotations

from typing import Any, Final

import psycopg

from harness.identity import digest
from harness.sinks.base import AtomicBatch, Effect, State

TABLES: Final = ("ledger", "archive")
VIEW: Final = "table"
"""Who looks: any reader of the tables."""

_ROWS: Final = """
SELECT seq, record, account, amount_cents, fee_cents, source_partition, source_offset,
       query_id, batch_id
FROM {} ORDER BY seq
"""
_OPEN: Final = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid() AND xact_start IS NOT NULL AND backend_type = 'client backend'"
)


class TwoTables:
    """The tables `ledger` and `archive`."""

    name = TABLES[0]

    def __init__(self, database: str, *, topic: str) -> None:
        """`topic` is where their rows come from."""
        self._database = database
        self._topic = topic

    def size(self) -> int:
        """How many rows there are in both."""
        return sum(int(self._rows(f"SELECT count(*) FROM {t}", ((0,),))[0][0]) for t in TABLES)

    def effects(self) -> list[Effect]:
        """One effect a row of each."""
        return [
            Effect(
                sink=table,
                view=VIEW,
                record=record,
                effect_key="",
                digest=digest(record, account, amount, fee),
                position=f"{table} row {seq}",
                ordinal=seq,
                source_topic=self._topic,
                source_partition=partition,
                source_offset=offset,
                owner=query,
                batch=batch,
            )
            for table in TABLES
            for seq, record, account, amount, fee, partition, offset, query, batch in self._rows(
                _ROWS.format(table)
            )
        ]

    def states(self) -> list[State]:
        """None."""
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        """The guard's rows, of both queries."""
        return [
            AtomicBatch(owner=query, batch=batch, ordinal=seq)
            for query, batch, seq in self._rows(
                "SELECT query_id, batch_id, seq FROM batches_done ORDER BY seq"
            )
        ]

    def hanging(self) -> bool:
        """Whether a transaction of somebody else is open in this database."""
        return bool(self._rows(_OPEN)[0][0])

    def _rows(self, query: str, without: tuple[tuple[Any, ...], ...] = ()) -> list[tuple[Any, ...]]:
        """What a query finds, or what there is while its table is not."""
        with psycopg.connect(self._database) as connection:
            try:
                return connection.execute(query.encode()).fetchall()
            except psycopg.errors.UndefinedTable:
                return list(without)  # the job creates its tables when it first starts

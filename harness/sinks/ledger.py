"""The PostgreSQL ledger that the foreachBatch job writes."""

from __future__ import annotations

import psycopg

from harness.identity import digest
from harness.sinks.base import AtomicBatch, Effect, State

_LEDGER = """
SELECT seq, record, account, amount_cents, fee_cents, source_partition, source_offset,
       query_id, batch_id
FROM ledger ORDER BY seq
"""
_BATCHES = "SELECT query_id, batch_id, seq FROM batches_done ORDER BY seq"


class Ledger:
    """The table `ledger`, as any reader of it sees it."""

    def __init__(self, database: str, *, topic: str, sink: str, view: str) -> None:
        self._database = database
        self._topic = topic
        self.name = sink
        self._view = view

    def size(self) -> int:
        """The newest row's number."""
        rows = self._rows("SELECT coalesce(max(seq), 0) FROM ledger")
        return int(rows[0][0]) if rows else 0

    def effects(self) -> list[Effect]:
        """One effect a row."""
        return [
            Effect(
                sink=self.name,
                view=self._view,
                record=record,
                effect_key="",
                digest=digest(record, account, amount, fee),
                position=f"{self.name} row {seq}",
                ordinal=seq,
                source_topic=self._topic,
                source_partition=partition,
                source_offset=offset,
                owner=query,
                batch=batch,
            )
            for seq, record, account, amount, fee, partition, offset, query, batch in self._rows(
                _LEDGER
            )
        ]

    def states(self) -> list[State]:
        """None."""
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        """The guard's rows."""
        return [
            AtomicBatch(owner=query, batch=batch, ordinal=seq)
            for query, batch, seq in self._rows(_BATCHES)
        ]

    def hanging(self) -> bool:
        """Whether a transaction of somebody else is open in this database."""
        ((count,),) = self._rows(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND xact_start IS NOT NULL "
            "AND backend_type = 'client backend'"
        )
        return bool(count)

    def _rows(self, query: str) -> list[tuple]:  # type: ignore[type-arg]
        with psycopg.connect(self._database) as connection:
            try:
                return connection.execute(query).fetchall()
            except psycopg.errors.UndefinedTable:
                return []  # the job creates its tables when it first starts

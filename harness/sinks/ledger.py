"""The PostgreSQL ledger that the foreachBatch job writes."""

from __future__ import annotations

from typing import Final

from onceproof.harness.history.identity import digest
from onceproof.harness.sinks.base import Effect, State
from onceproof.harness.sinks.guarded import GuardedTables

_ROWS: Final = """
SELECT seq, record, account, amount_cents, fee_cents, source_partition, source_offset,
       query_id, batch_id
FROM {} ORDER BY seq
"""


def rows_of(tables: GuardedTables, table: str, *, topic: str, sink: str, view: str) -> list[Effect]:
    """Return one effect per row of a table with the ledger's columns."""
    return [
        Effect(
            sink=sink,
            view=view,
            record=record,
            effect_key="",
            digest=digest(record, account, amount, fee),
            position=f"{sink} row {seq}",
            ordinal=seq,
            source_topic=topic,
            source_partition=partition,
            source_offset=offset,
            owner=query,
            batch=batch,
        )
        for seq, record, account, amount, fee, partition, offset, query, batch in tables.rows(
            _ROWS.format(table)
        )
    ]


class Ledger(GuardedTables):
    """The table `ledger`."""

    def __init__(self, database: str, *, topic: str, sink: str, view: str) -> None:
        super().__init__(database)
        self._topic = topic
        self.name = sink
        self._view = view

    def size(self) -> int:
        rows = self.rows("SELECT coalesce(max(seq), 0) FROM ledger")
        return int(rows[0][0]) if rows else 0

    def effects(self) -> list[Effect]:
        return rows_of(self, "ledger", topic=self._topic, sink=self.name, view=self._view)

    def states(self) -> list[State]:
        return []

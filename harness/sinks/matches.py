"""Matches of payments and refunds in PostgreSQL; each is an effect of its payment."""

from __future__ import annotations

from typing import Final

from onceproof.harness.history.identity import digest
from onceproof.harness.sinks.base import Effect, State
from onceproof.harness.sinks.guarded import GuardedTables
from onceproof.harness.workload.payments import Payment

VIEW: Final = "table"

_MATCHES: Final = """
SELECT seq, record, account, amount_cents, refund, refund_cents, query_id, batch_id
FROM matches ORDER BY seq
"""


def match_digest(payment: Payment, refund: Payment) -> str:
    return digest(
        payment.record, payment.account, payment.amount_cents, refund.record, refund.amount_cents
    )


class Matches(GuardedTables):
    """The table `matches`."""

    def __init__(self, database: str, *, sink: str) -> None:
        super().__init__(database)
        self.name = sink

    def size(self) -> int:
        rows = self.rows("SELECT coalesce(max(seq), 0) FROM matches")
        return int(rows[0][0]) if rows else 0

    def effects(self) -> list[Effect]:
        return [
            Effect(
                sink=self.name,
                view=VIEW,
                record=record,
                effect_key="",
                digest=digest(record, *content),
                position=f"{self.name} row {seq}",
                ordinal=seq,
                owner=query,
                batch=batch,
            )
            for seq, record, *content, query, batch in self.rows(_MATCHES)
        ]

    def states(self) -> list[State]:
        return []

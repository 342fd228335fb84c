"""Real-time order: a transaction ended before another began, by the same clock.

Every pair would be too many edges. Instead each time at which a transaction ended is a barrier: its
transactions lead to it, it leads to the next barrier of the same clock, and the last barrier before
a transaction began leads to that. So there are at most three edges per transaction, and one reaches
another exactly if it ended before that began. Only transactions that can be in a cycle are
included.
"""

from __future__ import annotations

from typing import Final

from onceproof.checkers.relations._edges import edge
from onceproof.checkers.relations.base import Relation


def _barrier(at: str) -> str:
    return f"e.clock || '@' || CAST({at} AS VARCHAR)"


_TO_BARRIER: Final = edge(
    "realtime",
    source="e.txn",
    target_barrier=_barrier("e.ended_at"),
    from_at="e.ended_at",
    clock="e.clock",
)
_ON: Final = edge(
    "realtime", source_barrier=_barrier("e.before"), target_barrier=_barrier("e.ended_at")
)
_FROM_BARRIER: Final = edge(
    "realtime",
    source_barrier=_barrier("e.before"),
    target="e.txn",
    to_at='e."at"',
    clock="e.clock",
)

RELATION = Relation(
    name="txn_realtime",
    meaning="the real-time order of transactions, by the times at which some ended",
    sql=f"""
SELECT {_TO_BARRIER}
FROM txn_tangled e
WHERE e.ended_at IS NOT NULL
UNION ALL
SELECT {_ON}
FROM (
    SELECT d.clock, d.ended_at,
           lag(d.ended_at) OVER (PARTITION BY d.clock ORDER BY d.ended_at) AS before
    FROM txn_tangled d
) e
WHERE e.before < e.ended_at
UNION ALL
SELECT {_FROM_BARRIER}
FROM (
    SELECT b.txn, b.clock, b."at",
           max(b.ended_at) OVER (
               PARTITION BY b.clock ORDER BY b."at"
               RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
           ) AS before
    FROM (
        SELECT t.txn, t.clock, t.began_at AS "at", CAST(NULL AS BIGINT) AS ended_at
        FROM txn_tangled t
        UNION ALL
        SELECT CAST(NULL AS VARCHAR) AS txn, t.clock, t.ended_at AS "at", t.ended_at
        FROM txn_tangled t
    ) b
) e
WHERE e.txn IS NOT NULL AND e.before IS NOT NULL
""",
)

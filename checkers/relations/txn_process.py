"""Process order: two transactions of one session, the second of which began after the first.

Only neighbours are joined; the rest follows. Transactions that began at the same time have no
order.
"""

from __future__ import annotations

from typing import Final

from onceproof.checkers.relations._edges import edge
from onceproof.checkers.relations.base import Relation

_EDGE: Final = edge(
    "process",
    source="p.source",
    target="p.txn",
    source_place="p.source_place",
    target_place="p.place",
    session="p.session",
    from_at="p.from_at",
    to_at="p.began_at",
    clock="p.clock",
)

RELATION = Relation(
    name="txn_process",
    meaning="committed transactions that follow each other in their session",
    sql=f"""
SELECT {_EDGE}
FROM (
    SELECT c.txn, c.session, c.clock, c.began_at, c.place,
           lag(c.place) OVER neighbours AS source_place,
           lag(c.txn) OVER neighbours AS source,
           lag(c.began_at) OVER neighbours AS from_at
    FROM txn_committed c
    WINDOW neighbours AS (PARTITION BY c.session, c.clock ORDER BY c.began_at, c.txn)
) p
WHERE p.from_at < p.began_at
""",
)

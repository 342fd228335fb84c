"""Write-write: two transactions wrote to one partition, one right after the other.

This considers entries known to be written by committed transactions, by offset, except offsets with
several records. Only the first such place of two transactions is kept.
"""

from __future__ import annotations

from typing import Final

from onceproof.checkers.relations._edges import edge
from onceproof.checkers.relations.base import Relation

_EDGE: Final = edge(
    "ww",
    source="w.source",
    target="w.target",
    source_place="w.source_place",
    target_place="w.target_place",
    at_topic="w.topic",
    at_partition='w."partition"',
    at_offset='w."offset"',
    record="w.record",
    after_offset="w.after_offset",
    after_record="w.after_record",
)

RELATION = Relation(
    name="txn_ww",
    meaning="transactions that wrote right before others in a partition",
    sql=f"""
SELECT {_EDGE}
FROM (
    SELECT v.*,
           row_number() OVER (
               PARTITION BY v.source, v.target ORDER BY v.topic, v."partition", v."offset"
           ) AS n
    FROM (
        SELECT t.topic, t."partition", t."offset", t.record, t.txn AS target,
               t.place AS target_place,
               lag(t.place) OVER neighbours AS source_place,
               lag(t.txn) OVER neighbours AS source,
               lag(t."offset") OVER neighbours AS after_offset,
               lag(t.record) OVER neighbours AS after_record
        FROM txn_writes t
        WINDOW neighbours AS (PARTITION BY t.topic, t."partition" ORDER BY t."offset", t.record)
    ) v
    WHERE v.source <> v.target AND v.after_offset < v."offset"
) w
WHERE w.n = 1
""",
)

"""Read after write: a transaction read a record that another one wrote.

Only what was read as committed counts: whoever asks for uncommitted records may see them in any
order, and nothing is wrong with that. The record is of the transaction whose send the attempt that
was read names; else of the one that sent the record, if only one send of it to this topic was ever
called. The first such place of two transactions stands for all of theirs.
"""

from __future__ import annotations

from typing import Final

from onceproof.checkers.relations._edges import edge
from onceproof.checkers.relations.base import Relation

_EDGE: Final = edge(
    "wr",
    source="w.source",
    target="w.target",
    source_place="w.source_place",
    target_place="w.target_place",
    at_topic="w.topic",
    at_partition='w."partition"',
    at_offset='w."offset"',
    record="w.record",
)

RELATION = Relation(
    name="txn_wr",
    meaning="transactions that wrote what others read",
    sql=f"""
SELECT {_EDGE}
FROM (
    SELECT v.*,
           row_number() OVER (
               PARTITION BY v.source, v.target
               ORDER BY v.topic, v."partition", v."offset", v.record
           ) AS n
    FROM (
        SELECT c.txn AS source, c.place AS source_place, k.txn AS target,
               k.place AS target_place, r.topic, r."partition", r."offset", r.record
        FROM reads r
        JOIN txn_committed k ON k.txn = r.txn
        JOIN sends s ON s.attempt = r.attempt AND s.record = r.record AND s.topic = r.topic
        JOIN txn_committed c ON c.txn = s.txn
        WHERE r.isolation = 'read_committed'
        UNION ALL
        SELECT o.txn AS source, o.place AS source_place, n.reader AS target,
               n.reader_place AS target_place, n.topic, n."partition", n."offset", n.record
        FROM txn_nameless n
        JOIN txn_lone_sends o ON o.topic = n.topic AND o.record = n.record
        WHERE n.reader IS NOT NULL
    ) v
    WHERE v.source <> v.target
) w
WHERE w.n = 1
""",
)

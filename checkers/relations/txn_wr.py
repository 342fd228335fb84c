"""Write-read: a transaction read a record that another one wrote.

Only `read_committed` reads count. The record's transaction is that of the send that the attempt id
names, else of its only send to the topic. Only the first such place of two transactions is kept.
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

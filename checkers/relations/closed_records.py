"""Records of which no further position can turn up, although the log was not read to its end.

All of their sends were over before collecting began: acknowledged, outside a transaction, by the
same clock. Where the log was not collected, `collect_started` is not known. Asked for only where
the history is not complete; where it is, nothing can turn up.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="closed_records",
    meaning="records whose sends were all over before an incomplete log was collected",
    sql="""
SELECT i.trial, s.record
FROM sends s
JOIN inputs i ON i.topic = s.topic
WHERE NOT i.complete
GROUP BY i.trial, s.record
HAVING min(CASE WHEN s.outcome = 'ok' AND s.txn IS NULL
                     AND s.returned_at <= i.collect_started AND s.clock = i.collect_clock
                THEN 1 ELSE 0 END) = 1
""",
)

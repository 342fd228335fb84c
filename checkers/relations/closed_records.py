"""Records that can have no further log entry, although the log was not read to its end.

All their sends were acknowledged outside a transaction before collecting began, by the same clock.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="closed_records",
    meaning="records whose sends had all ended before an incomplete log was collected",
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

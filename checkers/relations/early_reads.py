"""Reads of a record before any send that they may come from was called, by the same clock.

A read with an attempt id comes from that attempt, any other from any send of its record to any
topic. Calls are recorded before the client gets the record, so such a read proves another writer.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="early_reads",
    meaning="reads of records before any send of them was called",
    sql="""
SELECT r.trial, r.topic, r.record, r."partition", r."offset", r.named AS attempt, r.reader,
       r."at", s.called_at
FROM read_origins r
JOIN sends s ON s.attempt = r.named
WHERE s.clock = r.clock AND s.called_at > r."at"
UNION ALL
SELECT r.trial, r.topic, r.record, r."partition", r."offset", r.named AS attempt, r.reader,
       r."at", c.called_at
FROM read_origins r
JOIN (
    SELECT s.record, min(s.called_at) AS called_at, min(s.clock) AS clock
    FROM sends s
    JOIN (SELECT DISTINCT record FROM nameless_reads) n ON n.record = s.record
    GROUP BY s.record
    HAVING min(s.clock) = max(s.clock)
) c ON c.record = r.record
WHERE r.named IS NULL AND c.clock = r.clock AND c.called_at > r."at"
""",
)

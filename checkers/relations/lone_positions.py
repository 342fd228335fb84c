"""Committed positions of records that have no other one, and never had.

An effect that names no position of its input must come from there. Where a part of the log was
deleted, or more may turn up, nobody knows whether there is no other.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="lone_positions",
    meaning="the only committed position of each record that certainly has only one",
    sql="""
SELECT c.trial, c.topic, c.record, min(c.key) AS key, min(c."partition") AS "partition",
       min(c."offset") AS "offset"
FROM committed_log c
JOIN inputs i ON i.trial = c.trial
LEFT JOIN cut_topics cut ON cut.trial = c.trial
LEFT JOIN closed_records k ON k.trial = c.trial AND k.record = c.record
JOIN sourceless s ON s.topic = c.topic AND s.record = c.record
WHERE cut.topic IS NULL AND (i.complete OR k.record IS NOT NULL)
GROUP BY c.trial, c.topic, c.record
HAVING count(*) = 1
""",
)

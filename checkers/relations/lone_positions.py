"""Committed entries of records that certainly never had another one.

An effect that names no input offset must come from there. Records of cut topics, and those that may
have further entries, are left out.
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

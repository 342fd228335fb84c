"""Committed input entries that no attempt id attributes to a send."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="nameless_entries",
    meaning="records that are in the committed log without a valid attempt id",
    sql="""
SELECT DISTINCT c.topic, c.record
FROM committed_log c
LEFT JOIN sends n ON n.attempt = c.attempt_read AND n.record = c.record AND n.topic = c.topic
WHERE n.attempt IS NULL
""",
)

"""Reads that no attempt id attributes to a send."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="nameless_reads",
    meaning="records that were read without a valid attempt id",
    sql="""
SELECT DISTINCT r.topic, r.record
FROM reads r
LEFT JOIN sends n ON n.attempt = r.attempt AND n.record = r.record AND n.topic = r.topic
WHERE n.attempt IS NULL
""",
)

"""Data entries of suspects, in any topic."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="log_in_question",
    meaning="log entries of the records that are compared in full",
    sql="""
SELECT l.*
FROM log l
JOIN suspects q ON q.h = hash(l.record)
WHERE l.kind = 'data' AND l.record IS NOT NULL
""",
)

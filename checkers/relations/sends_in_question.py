"""Sends of suspects, to any topic."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="sends_in_question",
    meaning="sends of the records that are compared in full",
    sql="""
SELECT s.*
FROM sends s
JOIN suspects q ON q.h = hash(s.record)
""",
)

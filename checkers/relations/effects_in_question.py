"""Effects of suspects in the views on trial."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="effects_in_question",
    meaning="effects of the records that are compared in full",
    sql="""
SELECT e.*
FROM sink_effects e
JOIN suspects q ON q.h = hash(e.record)
""",
)

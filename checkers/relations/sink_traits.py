"""Number of effects in a sink, and of those that name their input offset."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="sink_traits",
    meaning="effects per trial, and those that name their input's position",
    sql="""
SELECT e.trial, count(*) AS effects, count(e.source_offset) AS sourced
FROM sink_effects e
GROUP BY e.trial
""",
)

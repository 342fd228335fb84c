"""How many effects a sink has, and how many of them name the position of their input."""

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

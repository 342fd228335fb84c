"""Records with effects that name no input offset; only these need further queries."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="sourceless",
    meaning="records of effects that name no position",
    sql="""
SELECT DISTINCT k.topic, e.record
FROM sink_effects e
JOIN outputs k ON k.trial = e.trial
WHERE e.source_offset IS NULL
""",
)

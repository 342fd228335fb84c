"""Owners that write to another sink: their progress says nothing about this one."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="foreign_owners",
    meaning="owners known to write to other sinks and not to this one",
    sql="""
SELECT k.trial, o.owner
FROM sink_owners o
CROSS JOIN outputs k
GROUP BY k.trial, o.owner
HAVING max(CASE WHEN o.sink = k.sink OR o.sink = k.dead_letters THEN 1 ELSE 0 END) = 0
""",
)

"""Which owners write to which sink."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="sink_owners",
    meaning="owners by the sinks that they are known to write to",
    sql="""
SELECT e.sink, e.owner
FROM effects e
WHERE e.owner IS NOT NULL
UNION
SELECT j.sink, j.owner
FROM journal j
WHERE j.owner IS NOT NULL
UNION
SELECT p.sink, p.owner
FROM positions p
WHERE p.sink IS NOT NULL
""",
)

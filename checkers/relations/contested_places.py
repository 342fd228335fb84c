"""Hashes of log offsets where several records were seen; nearly always none.

Hashes can collide, so compare the offsets themselves.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="contested_places",
    meaning="hashes of log positions with more than one row",
    sql="""
SELECT hash(l.topic, l."partition", l."offset") AS h
FROM log l
GROUP BY hash(l.topic, l."partition", l."offset")
HAVING count(*) > 1
""",
)

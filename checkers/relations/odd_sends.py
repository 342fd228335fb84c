"""Hashes of `send_prints` that are not exactly one pair."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="odd_sends",
    meaning="hashes in `send_prints` that do not form one pair",
    sql="""
SELECT min(p.h) AS one, max(p.h) AS other
FROM send_prints p
GROUP BY p.print
HAVING sum(p.weight) <> 2000003
""",
)

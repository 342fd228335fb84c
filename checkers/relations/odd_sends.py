"""Prints that do not stand for exactly one pair; see `send_prints`."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="odd_sends",
    meaning="prints of `send_prints` that are not one pair",
    sql="""
SELECT min(p.h) AS one, max(p.h) AS other
FROM send_prints p
GROUP BY p.print
HAVING sum(p.weight) <> 2000003
""",
)

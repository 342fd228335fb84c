"""Prints that do not stand for exactly one pair; see `send_prints`."""

from __future__ import annotations

from typing import Final

from onceproof.checkers.relations.base import Relation

RELATION: Final = Relation(
    name="odd_sends",
    meaning="prints of `send_prints` that are not one pair",
    sql="""
SELECT min(p.h) AS one, max(p.h) AS other
FROM send_prints p
GROUP BY p.print
HAVING sum(p.weight) <> 2000003
""",
)

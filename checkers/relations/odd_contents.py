"""Prints that do not stand for exactly one pair; see `content_prints`."""

from __future__ import annotations

from typing import Final

from onceproof.checkers.relations.base import Relation

RELATION: Final = Relation(
    name="odd_contents",
    meaning="prints of `content_prints` that are not one pair",
    sql="""
SELECT min(p.h) AS one, max(p.h) AS other
FROM content_prints p
GROUP BY p.print
HAVING sum(p.weight) <> 2000003
""",
)

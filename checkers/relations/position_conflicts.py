"""Positions of the inputs that were seen with more than one record."""

from __future__ import annotations

from typing import Final

from onceproof.checkers.relations.base import Relation

RELATION: Final = Relation(
    name="position_conflicts",
    meaning="positions with two records",
    sql="""
SELECT c.trial, c.topic, c."partition", c."offset", count(*) AS records
FROM position_claims c
GROUP BY c.trial, c.topic, c."partition", c."offset"
HAVING count(*) > 1
""",
)

"""Everything that somebody called a send for, to whatever topic."""

from __future__ import annotations

from typing import Final

from checkers.relations.base import Relation

RELATION: Final = Relation(
    name="sent_records",
    meaning="identities of records that were sent anywhere, and whether to the input",
    sql="""
SELECT s.record, max(CASE WHEN s.topic = h.input THEN 1 ELSE 0 END) = 1 AS to_input
FROM sends s
CROSS JOIN hop_input h
GROUP BY s.record
""",
)

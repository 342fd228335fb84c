"""How many sends each input has. Without any, nobody can say who sent what."""

from __future__ import annotations

from typing import Final

from onceproof.checkers.relations.base import Relation

RELATION: Final = Relation(
    name="send_counts",
    meaning="sends per input",
    sql="""
SELECT i.trial, i.topic, n.sends
FROM (SELECT s.topic, count(*) AS sends FROM sends s GROUP BY s.topic) n
JOIN inputs i ON i.topic = n.topic
""",
)

"""The trials that a transaction belongs to: those of the topics that it sent to."""

from __future__ import annotations

from typing import Final

from onceproof.checkers.relations.base import Relation

RELATION: Final = Relation(
    name="txn_trials",
    meaning="transactions by trial",
    empty_without=("txns",),
    sql="""
SELECT DISTINCT i.trial, i.topic, s.txn
FROM sends s
JOIN inputs i ON i.topic = s.topic
""",
)

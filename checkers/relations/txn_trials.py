"""The trials of a transaction: those of the topics that it sent to."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="txn_trials",
    meaning="transactions by trial",
    empty_without=("txns",),
    sql="""
SELECT DISTINCT i.trial, i.topic, s.txn
FROM sends s
JOIN inputs i ON i.topic = s.topic
""",
)

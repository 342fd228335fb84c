"""Number of sends to each input. If there are none, no sender is known."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="send_counts",
    meaning="sends per input",
    sql="""
SELECT i.trial, i.topic, n.sends
FROM (SELECT s.topic, count(*) AS sends FROM sends s GROUP BY s.topic) n
JOIN inputs i ON i.topic = n.topic
""",
)

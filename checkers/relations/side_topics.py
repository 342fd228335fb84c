"""Collected topics not on trial that transactions also sent to; mostly none.

They only serve to check whether these transactions are complete.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="side_topics",
    meaning="collected topics that transactions sent to and that are not inputs",
    sql="""
SELECT DISTINCT s.topic
FROM sends s
JOIN (SELECT topic FROM partitions UNION SELECT topic FROM log) known ON known.topic = s.topic
LEFT JOIN inputs i ON i.topic = s.topic
WHERE s.txn IS NOT NULL AND i.topic IS NULL
""",
)

"""Topics that are not on trial, but that a transaction sent to beside those that are.

Few, and mostly none. Of these it is asked only whether a transaction is whole, if their log was
collected.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="side_topics",
    meaning="collected topics that transactions sent to and that are no inputs",
    sql="""
SELECT DISTINCT s.topic
FROM sends s
JOIN (SELECT topic FROM partitions UNION SELECT topic FROM log) known ON known.topic = s.topic
LEFT JOIN inputs i ON i.topic = s.topic
WHERE s.txn IS NOT NULL AND i.topic IS NULL
""",
)

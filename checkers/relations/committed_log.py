"""The whole committed log of the inputs, not only suspects, for judging order and place."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="committed_log",
    meaning="all committed positions of the inputs",
    stored=False,
    sql="""
SELECT i.trial, l.topic, l."partition", l."offset", l.record, l.attempt AS attempt_read, l.key
FROM log l
JOIN inputs i ON i.topic = l.topic
WHERE l.kind = 'data' AND l.record IS NOT NULL AND l.committed
""",
)

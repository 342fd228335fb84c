"""Whether the entries of an input's log carry attempt ids, keys and digests."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="log_traits",
    meaning="how many entries of each input carry an attempt id, a key, a digest",
    sql="""
SELECT i.trial, n.attempts, n.keys, n.digests
FROM (
    SELECT l.topic, count(l.attempt) AS attempts, count(l.key) AS keys, count(l.digest) AS digests
    FROM log l
    WHERE l.kind = 'data' AND l.record IS NOT NULL
    GROUP BY l.topic
) n
JOIN inputs i ON i.topic = n.topic
""",
)

"""Transactions with a faulty send that no hash reveals.

Hashes cover only the inputs, but a transaction may also miss records in other topics. There an
entry without an attempt id may belong to any send of its record.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="torn_aside",
    meaning=(
        "transactions with a failed send, or with a missing send to a topic that is not an input"
    ),
    sql="""
SELECT s.txn
FROM sends s
WHERE s.outcome = 'fail'
UNION
SELECT s.txn
FROM side_topics t
JOIN sends s ON s.topic = t.topic
LEFT JOIN (
    SELECT l.topic, l.record, l.attempt
    FROM log l
    JOIN side_topics o ON o.topic = l.topic
    WHERE l.kind = 'data' AND l.committed
) l ON l.topic = s.topic AND l.record = s.record AND COALESCE(l.attempt, s.attempt) = s.attempt
WHERE l.topic IS NULL
""",
)

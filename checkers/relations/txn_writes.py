"""Committed entries written by committed transactions, by attempt id or the record's only send."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="txn_writes",
    meaning="committed entries with the committed transaction that wrote them",
    sql="""
SELECT l.topic, l."partition", l."offset", l.record, c.txn, c.place
FROM txn_committed c
JOIN sends s ON s.txn = c.txn
JOIN log l ON l.attempt = s.attempt AND l.record = s.record AND l.topic = s.topic
WHERE l.kind = 'data' AND l.committed
UNION ALL
SELECT n.topic, n."partition", n."offset", n.record, o.txn, o.place
FROM txn_nameless n
JOIN txn_lone_sends o ON o.topic = n.topic AND o.record = n.record
WHERE n.reader IS NULL
""",
    stored=False,
)

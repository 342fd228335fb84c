"""Transactions known to be committed because one of their records is in the committed log.

A commit that timed out may have happened; one committed record proves that it did. An attempt id
counts only for the record that it was made for. Without one, only a record that was sent once is
proof.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="proven_txns",
    meaning="transactions that one of their records proves to be committed",
    sql="""
SELECT s.txn
FROM sends_in_question s
JOIN log_in_question l ON l.attempt = s.attempt AND l.record = s.record AND l.topic = s.topic
WHERE s.txn IS NOT NULL AND l.committed
UNION
SELECT o.txn
FROM (
    SELECT s.record, s.topic, min(s.txn) AS txn
    FROM sends_in_question s
    GROUP BY s.record, s.topic
    HAVING count(*) = 1 AND min(s.txn) IS NOT NULL
) o
JOIN log_in_question l ON l.record = o.record AND l.topic = o.topic
WHERE l.committed AND l.attempt IS NULL
""",
)

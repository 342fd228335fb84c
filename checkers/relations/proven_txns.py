"""Transactions that are known to be committed because one of their records stands committed.

A commit that timed out may have happened. If one record of the transaction is in the committed
log, it did, and so did the whole transaction. An attempt id counts only beside the record that it
was made for; without one, only a record that was sent once can prove it.
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

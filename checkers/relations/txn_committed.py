"""Transactions known to be committed, in an order in which dependencies rarely lead back.

A commit with unknown outcome happened if one of its records is in the committed log of any topic,
as in `proven_txns`, but without the screen. `ended_at` is NULL if it is before the beginning.
`place` orders by the time of the commit call, across clocks, and proves nothing. It must be within
the transaction, so that no step of real time leads back.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="txn_committed",
    meaning="transactions that are known to be committed",
    sql="""
SELECT t.txn, t.session, t.clock, t.began_at,
       CASE WHEN t.ended_at >= t.began_at THEN t.ended_at END AS ended_at,
       row_number() OVER (
           ORDER BY CASE WHEN t.commit_called_at
                              BETWEEN t.began_at AND COALESCE(t.ended_at, t.commit_called_at)
                         THEN t.commit_called_at ELSE t.began_at END, t.txn
       ) AS place
FROM txns t
LEFT JOIN (
    SELECT s.txn
    FROM txns d
    JOIN sends s ON s.txn = d.txn
    JOIN log l ON l.attempt = s.attempt AND l.record = s.record AND l.topic = s.topic
    WHERE d.outcome = 'info' AND l.kind = 'data' AND l.committed
    UNION
    SELECT o.txn
    FROM (
        SELECT s.topic, s.record, min(s.txn) AS txn
        FROM sends s
        JOIN (
            SELECT u.topic, u.record
            FROM txns d
            JOIN sends u ON u.txn = d.txn
            WHERE d.outcome = 'info'
        ) u ON u.topic = s.topic AND u.record = s.record
        GROUP BY s.topic, s.record
        HAVING count(*) = 1
    ) o
    JOIN log l ON l.topic = o.topic AND l.record = o.record
    WHERE l.kind = 'data' AND l.committed AND l.attempt IS NULL
) p ON p.txn = t.txn
WHERE t.outcome = 'committed' OR p.txn IS NOT NULL
""",
)

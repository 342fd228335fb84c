"""The sends and staged offsets of each transaction, and whether each was committed.

Only sends to topics whose log was collected. An unanswered send counts if the transaction is known
to be committed. An entry without an attempt id may belong to any send of its record, so these are
undecided.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="txn_units",
    meaning="sends and staged positions of transactions: committed, missing or failed",
    sql="""
SELECT s.txn, 'send' AS what, s.attempt AS name, s.topic, s."partition", s."offset",
       CASE WHEN s.outcome = 'fail' THEN 'failed'
            WHEN e.attempt IS NOT NULL THEN 'committed'
            WHEN cut.attempt IS NOT NULL OR nameless.record IS NOT NULL THEN 'undecided'
            ELSE 'missing' END AS state
FROM sends_in_question s
LEFT JOIN txns t ON t.txn = s.txn
LEFT JOIN known_txns happened ON happened.txn = s.txn
LEFT JOIN (SELECT topic FROM partitions UNION SELECT topic FROM log) known ON known.topic = s.topic
LEFT JOIN (
    SELECT DISTINCT COALESCE(n.attempt, o.attempt) AS attempt
    FROM log_in_question l
    LEFT JOIN sends_in_question n
           ON n.attempt = l.attempt AND n.record = l.record AND n.topic = l.topic
    LEFT JOIN (
        SELECT topic, record, min(attempt) AS attempt
        FROM sends_in_question
        GROUP BY topic, record
        HAVING count(*) = 1
    ) o ON o.topic = l.topic AND o.record = l.record
    WHERE l.committed
) e ON e.attempt = s.attempt
LEFT JOIN (
    SELECT DISTINCT s.attempt
    FROM sends_in_question s
    JOIN partitions p ON p.topic = s.topic
         AND (s."partition" IS NULL OR p."partition" = s."partition")
    WHERE p.cleanup_policy LIKE '%compact%'
       OR (p.log_start > 0
           AND (s."partition" IS NULL OR s."offset" IS NULL OR s."offset" < p.log_start))
) cut ON cut.attempt = s.attempt
LEFT JOIN (
    SELECT DISTINCT l.topic, l.record
    FROM log_in_question l
    LEFT JOIN sends_in_question n
           ON n.attempt = l.attempt AND n.record = l.record AND n.topic = l.topic
    WHERE l.committed AND n.attempt IS NULL
) nameless ON nameless.topic = s.topic AND nameless.record = s.record
WHERE s.txn IS NOT NULL
  AND ((s.outcome = 'fail' AND t.outcome = 'committed')
       OR (known.topic IS NOT NULL
           AND (s.outcome = 'ok' OR (s.outcome = 'info' AND happened.txn IS NOT NULL))))
UNION ALL
SELECT g.txn, 'offset' AS what, g.owner AS name, g.topic, g."partition", g."offset", g.state
FROM staged_units g
""",
)

"""Records whose only send to a topic was in a committed transaction.

Such a record identifies its transaction without an attempt id. Only records with an entry or read
that lacks a valid id are listed.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="txn_lone_sends",
    meaning="records that were sent once to a topic, in a committed transaction",
    sql="""
SELECT o.topic, o.record, o.txn, c.place
FROM (
    SELECT s.topic, s.record, min(s.txn) AS txn
    FROM sends s
    JOIN (SELECT DISTINCT topic, record FROM txn_nameless) n
      ON n.topic = s.topic AND n.record = s.record
    GROUP BY s.topic, s.record
    HAVING count(*) = 1
) o
JOIN txn_committed c ON c.txn = o.txn
""",
)

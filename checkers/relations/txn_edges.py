"""Dependencies that may have cycles: of reads, of sessions, of time.

What is not tangled is left aside. It is enough to ask that of one end: an edge between a tangled
transaction and another is in no cycle, and does no harm.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="txn_edges",
    meaning="read dependencies, the order of sessions and of time, where they may have cycles",
    sql="""
SELECT e.*
FROM (SELECT * FROM txn_wr UNION ALL SELECT * FROM txn_process) e
JOIN txn_tangled t ON t.txn = e.target
UNION ALL
SELECT *
FROM txn_realtime
""",
)

"""Dependencies of reads, sessions and real time that may have cycles.

Checking one end is enough: an edge between a tangled transaction and another is in no cycle.
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

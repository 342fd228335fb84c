"""Dependencies of reads and writes that may have cycles."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="txn_write_edges",
    meaning="read and write dependencies, where they may have cycles",
    sql="""
SELECT e.*
FROM (SELECT * FROM txn_wr UNION ALL SELECT * FROM txn_ww) e
JOIN txn_tangled_writes t ON t.txn = e.target
""",
)

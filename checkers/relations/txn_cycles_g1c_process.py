"""Shortest cycles of transactions that read from each other or follow in one session."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="txn_cycles_g1c_process",
    meaning="cycles of read dependencies and the order of sessions",
    sql="""
SELECT e.*
FROM txn_edges e
WHERE e.kind <> 'realtime'
""",
    cycles=frozenset({"wr", "process"}),
)

"""Shortest cycles of transactions that read from each other, follow in one session, or in time."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="txn_cycles_g1c_realtime",
    meaning="cycles of read dependencies and the order of sessions and of time",
    sql="""
SELECT e.*
FROM txn_edges e
""",
    cycles=frozenset({"wr", "realtime"}),
)

"""Shortest cycles of transactions that read what the others wrote, or wrote after them."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="txn_cycles_g1c_ww",
    meaning="cycles of read and write dependencies",
    sql="""
SELECT e.*
FROM txn_write_edges e
""",
    cycles=frozenset({"wr", "ww"}),
)

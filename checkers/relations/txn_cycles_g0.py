"""Shortest cycles of transactions that wrote after each other."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="txn_cycles_g0",
    meaning="cycles of write dependencies",
    sql="""
SELECT e.*
FROM txn_write_edges e
WHERE e.kind = 'ww'
""",
    cycles=frozenset({"ww"}),
)

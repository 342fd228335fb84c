"""Shortest cycles of transactions that read what the others wrote."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="txn_cycles_g1c",
    meaning="cycles of read dependencies",
    sql="""
SELECT e.*
FROM txn_edges e
WHERE e.kind = 'wr'
""",
    cycles=frozenset({"wr"}),
)

"""Shortest cycles of transactions that read what the others wrote."""

from __future__ import annotations

from typing import Final

from onceproof.checkers.relations.base import Relation

RELATION: Final = Relation(
    name="txn_cycles_g1c",
    meaning="cycles of read dependencies",
    sql="""
SELECT e.*
FROM txn_edges e
WHERE e.kind = 'wr'
""",
    cycles=frozenset({"wr"}),
)

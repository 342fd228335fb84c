"""Shortest cycles of transactions that wrote after each other."""

from __future__ import annotations

from typing import Final

from onceproof.checkers.relations.base import Relation

RELATION: Final = Relation(
    name="txn_cycles_g0",
    meaning="cycles of write dependencies",
    sql="""
SELECT e.*
FROM txn_write_edges e
WHERE e.kind = 'ww'
""",
    cycles=frozenset({"ww"}),
)

"""Shortest cycles of transactions that read what the others wrote, or wrote after them."""

from __future__ import annotations

from typing import Final

from onceproof.checkers.relations.base import Relation

RELATION: Final = Relation(
    name="txn_cycles_g1c_ww",
    meaning="cycles of read and write dependencies",
    sql="""
SELECT e.*
FROM txn_write_edges e
""",
    cycles=frozenset({"wr", "ww"}),
)

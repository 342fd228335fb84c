"""Transactions that may be in a cycle of reads and writes, as concurrent ones legally are."""

from onceproof.checkers.relations._edges import tangled
from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="txn_tangled_writes",
    meaning="transactions between the ends of a read or write dependency that leads back",
    sql=tangled("txn_wr", "txn_ww"),
)

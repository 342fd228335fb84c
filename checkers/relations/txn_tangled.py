"""Transactions that may be in a cycle of reads, sessions and real time; nearly always none.

A step of real time never leads back in the order of `txn_committed`, so it is not needed here.
"""

from onceproof.checkers.relations._edges import tangled
from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="txn_tangled",
    meaning="transactions between the ends of a dependency that leads back",
    sql=tangled("txn_wr", "txn_process"),
)

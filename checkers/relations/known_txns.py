"""Suspects' transactions known to be committed: the commit returned, or a record proves it."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="known_txns",
    meaning="transactions of suspects that are known to be committed",
    sql="""
SELECT s.txn
FROM sends_in_question s
JOIN txns t ON t.txn = s.txn
WHERE t.outcome = 'committed'
UNION
SELECT p.txn
FROM proven_txns p
LEFT JOIN txns t ON t.txn = p.txn
WHERE COALESCE(t.outcome, 'info') = 'info'
""",
)

"""Sinks that are judged record by record and have rows in `expected`."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="stated",
    meaning="trials whose sink has rows in `expected`",
    sql="""
SELECT k.trial
FROM outputs k
JOIN (SELECT DISTINCT x.sink FROM expected x) s ON s.sink = k.sink
LEFT JOIN by_state b ON b.trial = k.trial
WHERE b.trial IS NULL
""",
)

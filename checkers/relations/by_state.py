"""Sinks that are judged by their final state instead of record by record.

These are the sinks with contributions: an aggregate or upsert keeps no trace of a single input.
Their journal still shows every change, and is judged record by record.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="by_state",
    meaning="trials that are judged by final state",
    sql="""
SELECT k.trial, k.sink, k.view
FROM outputs k
JOIN (SELECT DISTINCT x.sink FROM contributions x) s ON s.sink = k.sink
WHERE k.view <> 'journal'
""",
)

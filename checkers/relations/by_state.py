"""Sinks that are judged by the state that they end in, and not record by record.

Those of which contributions speak: in an aggregate or behind an upsert the single input has left no
trace of its own. Their journal still shows every change, and is judged record by record.
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

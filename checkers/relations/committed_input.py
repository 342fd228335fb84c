"""Suspects' entries in the committed log of the inputs: what the pipeline must process."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="committed_input",
    meaning="committed positions of the inputs",
    sql="""
SELECT e.trial, e.topic, e."partition", e."offset", e.record, e.attempt, e.decidable,
       e.lateness
FROM input_entries e
WHERE e.committed
""",
)

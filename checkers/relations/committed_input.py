"""The committed log of the inputs: what the pipeline must process, and nothing else.

One row per committed position, so a record that was sent twice stands here twice.
"""

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

"""Committed input entries that an owner's atomic position has not passed."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="beyond_entries",
    meaning="committed entries at or beyond an owner's newest atomic position",
    sql="""
SELECT p.trial, p.owner, p.furthest, c.topic, c."partition", c."offset", c.record,
       p."offset" AS position, p.batch
FROM committed_log c
JOIN newest_positions p ON p.topic = c.topic AND p."partition" = c."partition"
                       AND c."offset" >= p."offset"
WHERE p.role = 'atomic'
""",
)

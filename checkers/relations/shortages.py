"""Where effects are missing: nearly always empty, so it is made once and joined cheaply."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="shortages",
    meaning="rows of the balance with fewer effects seen than due",
    sql="""
SELECT b.trial, b.record, b.effect_key, b.in_partition, b.in_offset, b.due, b.seen
FROM balance b
WHERE b.seen < b.due
""",
)

"""Missing effects: nearly always empty, so it is computed once and is cheap to join."""

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

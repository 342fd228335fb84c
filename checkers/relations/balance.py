"""Expected and seen effects side by side, as multisets; unexpected ones are left out."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="balance",
    meaning="expected against seen effects",
    sql="""
SELECT x.trial, x.record, x.effect_key, x.in_partition, x.in_offset, x.positions, x.final,
       x.expected, x.due, x.due_in_all, COALESCE(s.seen, 0) AS seen
FROM expected_effects x
LEFT JOIN seen_effects s
  ON s.trial = x.trial AND s.record = x.record AND s.effect_key = x.effect_key
 AND s.in_partition = x.in_partition AND s.in_offset = x.in_offset
""",
)

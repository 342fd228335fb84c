"""Expected and seen effects side by side, as multisets.

One row per record, effect key and, if judged so, input position; either side may be 0. `wanted`
tells the effects that the transformation yields from those that nothing asks for.
"""

from __future__ import annotations

from typing import Final

from checkers.relations.base import Relation

RELATION: Final = Relation(
    name="balance",
    meaning="expected against seen effects",
    sql="""
SELECT COALESCE(x.trial, s.trial) AS trial,
       COALESCE(x.record, s.record) AS record,
       COALESCE(x.effect_key, s.effect_key) AS effect_key,
       COALESCE(x.in_partition, s.in_partition) AS in_partition,
       COALESCE(x.in_offset, s.in_offset) AS in_offset,
       COALESCE(x.expected, 0) AS expected,
       COALESCE(x.due, 0) AS due,
       COALESCE(x.due_in_all, 0) AS due_in_all,
       COALESCE(s.seen, 0) AS seen,
       x.record IS NOT NULL AS wanted
FROM expected_effects x
FULL OUTER JOIN seen_effects s
  ON s.trial = x.trial AND s.record = x.record AND s.effect_key = x.effect_key
 AND s.in_partition = x.in_partition AND s.in_offset = x.in_offset
""",
)

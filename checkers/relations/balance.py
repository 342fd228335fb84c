"""Expected and seen effects side by side, as multisets.

One row per record, effect key and, if judged so, input position; either side may be 0.
"""

from __future__ import annotations

from typing import Final

from checkers.relations.base import Relation

RELATION: Final = Relation(
    name="balance",
    meaning="expected against seen effects",
    sql="""
SELECT COALESCE(x.record, s.record) AS record,
       COALESCE(x.effect_key, s.effect_key) AS effect_key,
       COALESCE(x.in_partition, s.in_partition) AS in_partition,
       COALESCE(x.in_offset, s.in_offset) AS in_offset,
       COALESCE(x.expected, 0) AS expected,
       COALESCE(x.due, 0) AS due,
       COALESCE(s.seen, 0) AS seen
FROM expected_effects x
FULL OUTER JOIN (
    SELECT e.record, e.effect_key,
           CASE WHEN m.by_position THEN e.source_partition ELSE -1 END AS in_partition,
           CASE WHEN m.by_position THEN e.source_offset ELSE -1 END AS in_offset,
           count(*) AS seen
    FROM observed_effects e
    CROSS JOIN judging_mode m
    GROUP BY e.record, e.effect_key,
             CASE WHEN m.by_position THEN e.source_partition ELSE -1 END,
             CASE WHEN m.by_position THEN e.source_offset ELSE -1 END
) s ON s.record = x.record AND s.effect_key = x.effect_key
   AND s.in_partition = x.in_partition AND s.in_offset = x.in_offset
""",
)

"""Expected effects: the committed positions of each record × what each of them yields.

`in_partition` and `in_offset` are the input's position where effects are judged per position, and
-1 where per record. `due` leaves out positions of which nobody knows whether they could be read.
"""

from __future__ import annotations

from typing import Final

from checkers.relations.base import Relation

RELATION: Final = Relation(
    name="expected_effects",
    meaning="how many effects each record, effect key and (if judged so) position must have",
    sql="""
SELECT c.record, y.effect_key,
       CASE WHEN m.by_position THEN c."partition" ELSE -1 END AS in_partition,
       CASE WHEN m.by_position THEN c."offset" ELSE -1 END AS in_offset,
       CAST(CASE WHEN max(CASE WHEN m.deduplicates THEN 1 ELSE 0 END) = 1 THEN max(y.n)
                 ELSE sum(y.n) END AS BIGINT) AS expected,
       CAST(CASE WHEN max(CASE WHEN m.deduplicates THEN 1 ELSE 0 END) = 1
                 THEN max(CASE WHEN c.decidable THEN y.n ELSE 0 END)
                 ELSE sum(CASE WHEN c.decidable THEN y.n ELSE 0 END) END AS BIGINT) AS due
FROM committed_input c
JOIN yields y ON y.record = c.record
CROSS JOIN judging_mode m
GROUP BY c.record, y.effect_key,
         CASE WHEN m.by_position THEN c."partition" ELSE -1 END,
         CASE WHEN m.by_position THEN c."offset" ELSE -1 END
""",
)

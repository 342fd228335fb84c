"""What a reader of this view of the sink sees of this input.

Effects of other inputs into the same sink are not on trial: they name another source topic, or
their record was sent to other topics only. Effects without a readable identity are not here
either; they are counted as a failed control.
"""

from __future__ import annotations

from typing import Final

from checkers.relations.base import Relation

RELATION: Final = Relation(
    name="observed_effects",
    meaning="effects in the sink's view that come from the input",
    sql="""
SELECT e.record, e.effect_key, e.digest, e.position, e.ordinal, e.owner, e.batch,
       CASE WHEN e.source_topic IS NOT NULL AND e.source_offset IS NOT NULL
            THEN e.source_partition END AS source_partition,
       CASE WHEN e.source_topic IS NOT NULL AND e.source_partition IS NOT NULL
            THEN e.source_offset END AS source_offset
FROM effects e
JOIN hop_sink k ON k.sink = e.sink AND k.view = e.view
JOIN hop_input h ON e.source_topic IS NULL OR e.source_topic = h.input
LEFT JOIN (
    SELECT s.record
    FROM sent_records s
    LEFT JOIN (SELECT DISTINCT record FROM input_entries) i ON i.record = s.record
    WHERE NOT s.to_input AND i.record IS NULL
) elsewhere ON elsewhere.record = e.record
WHERE e.record IS NOT NULL AND (elsewhere.record IS NULL OR e.source_topic IS NOT NULL)
""",
)

"""Prints of committed entries and of effects: where both have the same, one led to the other.

Where every effect names the position of its input, the position is part of the print; else one
position and one effect of a record make a pair. Weights as in `send_prints`.
"""

from __future__ import annotations

from typing import Final

from checkers.relations.base import Relation

RELATION: Final = Relation(
    name="effect_prints",
    meaning="hashes of committed entries and effects, with weights",
    stored=False,
    sql="""
SELECT hash(l.record) AS h,
       hash(k.trial, hash(l.record),
            CASE WHEN t.effects = t.sourced THEN l."partition" END,
            CASE WHEN t.effects = t.sourced THEN l."offset" END) AS print,
       CASE WHEN c."partition" IS NULL THEN CAST(1000001 AS DOUBLE)
            ELSE CAST(1500000 AS DOUBLE) END AS weight
FROM log l
JOIN outputs k ON k.topic = l.topic
LEFT JOIN sink_traits t ON t.trial = k.trial
LEFT JOIN cut_partitions c ON c.topic = l.topic AND c."partition" = l."partition"
WHERE l.kind = 'data' AND l.record IS NOT NULL AND l.committed
UNION ALL
SELECT hash(e.record) AS h,
       hash(e.trial, hash(e.record),
            CASE WHEN t.effects = t.sourced THEN e.source_partition END,
            CASE WHEN t.effects = t.sourced THEN e.source_offset END) AS print,
       CASE WHEN e.once AND (s.trial IS NOT NULL OR e.effect_key = '')
                 AND (t.effects = t.sourced OR e.source_offset IS NULL)
            THEN CAST(1000002 AS DOUBLE) ELSE CAST(1500000 AS DOUBLE) END AS weight
FROM sink_effects e
JOIN sink_traits t ON t.trial = e.trial
LEFT JOIN stated s ON s.trial = e.trial
""",
)

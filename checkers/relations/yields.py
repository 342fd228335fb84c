"""What one committed position of a record must come to in the sink.

From `expected`. Where that table says nothing of this sink, the transformation is taken to be one
to one, with content that nobody can check.
"""

from __future__ import annotations

from typing import Final

from checkers.relations.base import Relation

RELATION: Final = Relation(
    name="yields",
    meaning="effects that one committed position of a record must have, by effect key",
    sql="""
SELECT x.record, x.effect_key, count(*) AS n
FROM expected x
JOIN hop_sink k ON k.sink = x.sink
GROUP BY x.record, x.effect_key
UNION ALL
SELECT r.record, '' AS effect_key, 1 AS n
FROM (
    SELECT record FROM committed_input
    UNION
    SELECT record FROM observed_effects
) r
CROSS JOIN (
    SELECT count(*) AS n
    FROM expected x
    JOIN hop_sink k ON k.sink = x.sink
) stated
WHERE stated.n = 0
""",
)

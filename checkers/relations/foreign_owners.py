"""Owners whose work goes to another sink: their progress says nothing of this one."""

from __future__ import annotations

from typing import Final

from checkers.relations.base import Relation

RELATION: Final = Relation(
    name="foreign_owners",
    meaning="owners known to write to other sinks and not to this one",
    sql="""
SELECT o.owner
FROM (
    SELECT e.owner, CASE WHEN e.sink = k.sink THEN 1 ELSE 0 END AS here
    FROM effects e
    CROSS JOIN hop_sink k
    WHERE e.owner IS NOT NULL
    UNION ALL
    SELECT p.owner, CASE WHEN p.sink = k.sink THEN 1 ELSE 0 END AS here
    FROM positions p
    CROSS JOIN hop_sink k
    WHERE p.sink IS NOT NULL
) o
GROUP BY o.owner
HAVING max(o.here) = 0
""",
)

"""The life of a process that came after another one, by the same clock."""

from __future__ import annotations

from typing import Final

from checkers.relations.base import Relation

RELATION: Final = Relation(
    name="successors",
    meaning="each instance with the one of its subject that started next",
    sql="""
SELECT f.instance, f.clock, f.started_at, min(j.instance) AS successor
FROM (
    SELECT o.instance, o.subject, o.clock, min(j.started_at) AS started_at
    FROM instances o
    JOIN instances j ON j.subject = o.subject AND j.clock = o.clock
                    AND j.started_at > o.started_at
    GROUP BY o.instance, o.subject, o.clock
) f
JOIN instances j ON j.subject = f.subject AND j.clock = f.clock AND j.started_at = f.started_at
GROUP BY f.instance, f.clock, f.started_at
""",
)

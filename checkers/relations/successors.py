"""Each process instance with its successor, by the same clock."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="successors",
    meaning="each instance with the one of its subject that started next",
    sql="""
SELECT f.instance, f.clock, f.started_at, f.successor
FROM (
    SELECT o.instance, o.clock, j.started_at, j.instance AS successor,
           row_number() OVER (PARTITION BY o.instance ORDER BY j.started_at, j.instance) AS n
    FROM instances o
    JOIN instances j ON j.subject = o.subject AND j.clock = o.clock
                    AND j.started_at > o.started_at
) f
WHERE f.n = 1
""",
)

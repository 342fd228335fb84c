"""How many entries lie at or below each offset that a reader was at.

Two such counts tell if anything lies between two offsets, without comparing reads with entries.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="log_places",
    meaning="for each offset of entries and reads, how many entries lie at or below it",
    empty_without=("reads",),
    sql="""
SELECT o.topic, o."partition", o."offset", o.entry, o.committed,
       sum(o.entry) OVER (
           PARTITION BY o.topic, o."partition" ORDER BY o."offset"
           ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
       ) AS entries,
       sum(o.committed) OVER (
           PARTITION BY o.topic, o."partition" ORDER BY o."offset"
           ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
       ) AS committed_entries
FROM (
    SELECT n.topic, n."partition", n."offset", max(n.entry) AS entry, max(n.committed) AS committed
    FROM (
        SELECT l.topic, l."partition", l."offset", 1 AS entry,
               CASE WHEN l.committed THEN 1 ELSE 0 END AS committed
        FROM log l
        JOIN inputs i ON i.topic = l.topic
        WHERE l.kind = 'data'
        UNION ALL
        SELECT p.topic, p."partition", p."offset", 0 AS entry, 0 AS committed
        FROM read_progress p
        UNION ALL
        SELECT p.topic, p."partition", p.reached AS "offset", 0 AS entry, 0 AS committed
        FROM read_progress p
    ) n
    GROUP BY n.topic, n."partition", n."offset"
) o
""",
)

"""For each offset of an entry or reader, how many entries are at or below it.

So entries between two offsets are found without comparing reads with entries.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="log_places",
    meaning="for each offset of entries and reads, how many entries lie at or below it",
    empty_without=("reads",),
    sql="""
SELECT o.topic, o."partition", o."offset", o.entry,
       CAST(sum(o.entry) OVER (
           PARTITION BY o.topic, o."partition" ORDER BY o."offset"
           ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
       ) AS BIGINT) AS entries
FROM (
    SELECT n.topic, n."partition", n."offset", max(n.entry) AS entry
    FROM (
        SELECT l.topic, l."partition", l."offset", 1 AS entry
        FROM log l
        JOIN inputs i ON i.topic = l.topic
        WHERE l.kind = 'data'
        UNION ALL
        SELECT p.topic, p."partition", p."offset", 0 AS entry
        FROM read_progress p
        UNION ALL
        SELECT p.topic, p."partition", p.reached AS "offset", 0 AS entry
        FROM read_progress p
    ) n
    GROUP BY n.topic, n."partition", n."offset"
) o
""",
)

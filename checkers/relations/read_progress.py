"""Reads with the furthest offset that their session had read before, or where it was to begin."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="read_progress",
    meaning="reads with the furthest offset that their session had read before",
    sql="""
SELECT p.trial, p.reader, p.session, p.ordinal, p.isolation, p.topic, p."partition", p."offset",
       p.record, COALESCE(p.read_before, a.position - 1) AS reached, p.read_before
FROM (
    SELECT i.trial, r.reader, r.session, r.ordinal, r.isolation, r.topic, r."partition",
           r."offset", r.record,
           max(r."offset") OVER (
               PARTITION BY r.reader, r.session, r.topic, r."partition"
               ORDER BY r.ordinal ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
           ) AS read_before
    FROM reads r
    JOIN inputs i ON i.topic = r.topic
) p
LEFT JOIN (
    SELECT reader, session, topic, "partition", min(position) AS position
    FROM assignments
    GROUP BY reader, session, topic, "partition"
) a ON a.reader = p.reader AND a.session = p.session AND a.topic = p.topic
   AND a."partition" = p."partition"
""",
)

"""Input offsets named by more effects than one entry can have.

This holds whatever else is unknown of the log: one entry yields its effects once, or one dead
letter.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="crowded_places",
    meaning="source positions with more effects than one position yields",
    sql="""
SELECT p.trial, p.record, p.effect_key, p.in_partition, p.in_offset, p.expected, p.seen
FROM (
    SELECT s.trial, s.record, s.effect_key, s.in_partition, s.in_offset, s.seen,
           CASE WHEN s.dead THEN 1 WHEN s.letters > 0 THEN 0 ELSE y.n END AS expected
    FROM (
        SELECT e.trial, e.record, e.effect_key, e.dead, e.source_partition AS in_partition,
               e.source_offset AS in_offset, count(*) AS seen,
               max(sum(CASE WHEN e.dead THEN 1 ELSE 0 END)) OVER (
                   PARTITION BY e.trial, e.record, e.source_partition, e.source_offset
               ) AS letters
        FROM observed_effects e
        WHERE e.source_offset IS NOT NULL
        GROUP BY e.trial, e.record, e.effect_key, e.dead, e.source_partition, e.source_offset
    ) s
    LEFT JOIN yields y ON y.trial = s.trial AND y.record = s.record
                      AND y.effect_key = s.effect_key
) p
WHERE p.seen > p.expected
""",
)

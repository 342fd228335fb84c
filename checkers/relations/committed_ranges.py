"""The range of each committed micro-batch, with the furthest end of all batches before it."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="committed_ranges",
    meaning="ranges of committed micro-batches in the input, in order",
    sql="""
SELECT n.trial, n.owner, n.batch, n.execution, n.topic, n."partition", n.start_offset, n.end_offset,
       max(n.end_offset) OVER (
           PARTITION BY n.trial, n.owner, n."partition"
           ORDER BY n.place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
       ) AS reached,
       lag(n.batch) OVER (
           PARTITION BY n.trial, n.owner, n."partition" ORDER BY n.place
       ) AS previous_batch
FROM (
    SELECT k.trial, r.owner, r.batch, r.execution, r.topic, r."partition", r.start_offset,
           r.end_offset,
           row_number() OVER (
               PARTITION BY k.trial, r.owner, r."partition"
               ORDER BY r.batch, r.start_offset, r.end_offset, r.execution
           ) AS place
    FROM ranges r
    JOIN outputs k ON k.topic = r.topic
    LEFT JOIN foreign_owners f ON f.trial = k.trial AND f.owner = r.owner
    WHERE r.committed AND f.owner IS NULL
) n
""",
)

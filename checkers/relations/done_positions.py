"""Done positions that are atomic with the effects, or from which the next start resumes.

Planned positions are not yet processed, and nothing resumes at advisory ones; neither is judged.
`previous` is the position before it in the owner's order, whoever wrote it.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="done_positions",
    meaning="done atomic and resume positions in the input, in their owner's order",
    sql="""
SELECT k.trial, p.owner, p.role, p."by", p.topic, p."partition", p."offset", p.batch, p.ordinal,
       lag(p."offset") OVER in_order AS previous,
       lag(p.batch) OVER in_order AS previous_batch,
       row_number() OVER (
           PARTITION BY k.trial, p.owner, p.role, p.sink, p."partition"
           ORDER BY p.ordinal DESC, p."offset" DESC
       ) = 1 AS newest
FROM positions p
JOIN outputs k ON k.topic = p.topic AND (p.sink IS NULL OR p.sink = k.sink)
LEFT JOIN foreign_owners f ON f.trial = k.trial AND f.owner = p.owner
WHERE p.kind = 'done' AND p.role IN ('atomic', 'resume') AND f.owner IS NULL
WINDOW in_order AS (
    PARTITION BY k.trial, p.owner, p.role, p.sink, p."partition" ORDER BY p.ordinal, p."offset"
)
""",
)

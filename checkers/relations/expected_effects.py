"""Expected effects: the committed entries of each record × what each yields.

An entry with a dead letter needs no other effect, and none may have more than one dead letter.
`due_in_all` also counts entries that may have been unreadable. It and `due` may be below 0 where
nothing is due.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="expected_effects",
    meaning=(
        "how many effects each record, effect key and (if judged per position) position must have"
    ),
    sql="""
SELECT g.trial, g.record, y.effect_key, g.in_partition, g.in_offset, g.positions, g.final,
       CAST(y.n * CASE WHEN d.seen >= g.positions THEN 0
                       ELSE g.positions - COALESCE(d.seen, 0) END AS BIGINT) AS expected,
       CAST(y.n_due * (g.due - COALESCE(d.seen, 0)) AS BIGINT) AS due,
       CAST(y.n_due * (g.sends - COALESCE(d.seen, 0)) AS BIGINT) AS due_in_all
FROM input_groups g
JOIN yields y ON y.trial = g.trial AND y.record = g.record
LEFT JOIN seen_effects d ON d.dead AND d.trial = g.trial AND d.record = g.record
     AND d.in_partition = g.in_partition AND d.in_offset = g.in_offset
UNION ALL
SELECT g.trial, g.record, d.effect_key, g.in_partition, g.in_offset, g.positions, g.final,
       g.positions AS expected, 0 AS due, 0 AS due_in_all
FROM input_groups g
JOIN seen_effects d ON d.dead AND d.trial = g.trial AND d.record = g.record
     AND d.in_partition = g.in_partition AND d.in_offset = g.in_offset
""",
)

"""How finely effects can be told apart: one row per trial.

Where every effect carries the position of its input, each position is judged alone, so that a lost
one and a duplicated one of the same record cannot cancel out. A subject that claims to drop what
was sent twice may choose which position it takes, so there the record is judged as a whole. Effects
that another topic brought do not count; they name no position of this input.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="judging_mode",
    meaning="whether effects are judged per input position or per record",
    sql="""
SELECT k.trial, k.deduplicates,
       NOT k.deduplicates
           AND t.sourced > 0 AND t.effects - t.sourced = COALESCE(f.effects, 0) AS by_position
FROM outputs k
LEFT JOIN sink_traits t ON t.trial = k.trial
LEFT JOIN (
    SELECT e.trial, count(*) AS effects
    FROM effects_in_question e
    JOIN foreign_effects f ON f.trial = e.trial AND f.record = e.record
    WHERE NOT e.names_topic
    GROUP BY e.trial
) f ON f.trial = k.trial
""",
)

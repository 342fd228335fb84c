"""Whether effects are judged per input offset or per record: one row per trial.

If every effect names its input offset, each entry is judged alone, so a loss and a duplicate of one
record cannot cancel out. A subject that claims to drop repeated sends may take any entry of a
record, so there the record is judged as a whole. Effects from other topics do not count.
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

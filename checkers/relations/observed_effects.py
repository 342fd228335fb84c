"""The effects of this input that a reader of this view of the sink sees.

Effects of other inputs are left out: they name another source topic, or their record was sent only
to other topics. Effects without a readable identity are left out, and fail a control.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="observed_effects",
    meaning="effects in the sink's view that come from the input",
    sql="""
SELECT e.trial, k.topic, k.sink, k.view, e.record, e.effect_key, e.digest, e.position, e.ordinal,
       e.owner, e.batch, e.source_partition, e.source_offset, e.dead
FROM effects_in_question e
JOIN outputs k ON k.trial = e.trial
LEFT JOIN foreign_effects f ON f.trial = e.trial AND f.record = e.record AND NOT e.names_topic
WHERE f.record IS NULL
""",
)

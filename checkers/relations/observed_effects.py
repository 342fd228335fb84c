"""What a reader of this view of the sink sees of this input.

Effects of other inputs into the same sink are not on trial: they name another source topic, or
their record was sent to other topics only. Effects without a readable identity are not here
either; they are counted as a failed control.
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

"""Expected effects of suspects."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="expected_in_question",
    meaning="expectations of the records that are compared in full",
    sql="""
SELECT k.trial, x.record, x.effect_key, x.digest, x.optional
FROM expected x
JOIN outputs k ON k.sink = x.sink
JOIN stated s ON s.trial = k.trial
JOIN suspects q ON q.h = hash(x.record)
""",
)

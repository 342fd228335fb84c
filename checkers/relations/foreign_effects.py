"""Effects without a source topic whose record was sent only to other topics: not on trial."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="foreign_effects",
    meaning="effects in the sink of records from other topics",
    sql="""
SELECT DISTINCT e.trial, e.record
FROM effects_in_question e
JOIN outputs k ON k.trial = e.trial
JOIN sent_records s ON s.record = e.record
LEFT JOIN sends_in_question here ON here.record = e.record AND here.topic = k.topic
LEFT JOIN input_entries i ON i.topic = k.topic AND i.record = e.record
WHERE NOT e.names_topic AND here.record IS NULL AND i.record IS NULL
""",
)

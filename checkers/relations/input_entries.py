"""Suspects' data entries in the inputs' logs with a readable identity, committed or not.

`attempt` is kept only if it names an attempt to send this record to this topic. `decidable` is
false below the log start offset and in compacted partitions: the pipeline may not have been able to
read the entry.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="input_entries",
    meaning="data entries of the inputs' logs with a readable identity",
    sql="""
SELECT i.trial, l.topic, l."partition", l."offset", l.record, s.attempt, l.attempt AS attempt_read,
       l.key, l.digest, l.committed, l.lateness,
       c."partition" IS NULL OR (NOT c.compacted AND l."offset" >= c.log_start) AS decidable
FROM log_in_question l
JOIN inputs i ON i.topic = l.topic
LEFT JOIN sends_in_question s
       ON s.attempt = l.attempt AND s.record = l.record AND s.topic = l.topic
LEFT JOIN cut_partitions c ON c.topic = l.topic AND c."partition" = l."partition"
""",
)

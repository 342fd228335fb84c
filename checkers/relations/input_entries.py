"""Data entries of the inputs' logs, committed or not, whose identity could be read.

`attempt` is kept only where it names an attempt to send this very record to this topic; anything
else is as good as no attempt id. `decidable` is false below the start of the log and in compacted
partitions: nobody knows whether the pipeline ever had the chance to read it.
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

"""Reads of the inputs with their send: by attempt id, else the record's only send to the topic.

`logged_later`: whether the log was certainly collected after the read. A run that does not settle
is collected while its readers still read.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="read_origins",
    meaning="reads with the send that they come from",
    sql="""
SELECT i.trial, i.collected AND (i.complete OR (r."at" <= i.collect_started
                                      AND r.clock = i.collect_clock)) AS logged_later,
       r.reader, r.session, r.ordinal, r.isolation, r.topic,
       r."partition", r."offset", r.record, r."at", r.clock, n.attempt AS named,
       COALESCE(n.attempt, o.attempt) AS origin
FROM reads r
JOIN inputs i ON i.topic = r.topic
LEFT JOIN sends n ON n.attempt = r.attempt AND n.record = r.record AND n.topic = r.topic
LEFT JOIN (
    SELECT s.topic, s.record, min(s.attempt) AS attempt
    FROM sends s
    JOIN nameless_reads x ON x.topic = s.topic AND x.record = s.record
    GROUP BY s.topic, s.record
    HAVING count(*) = 1
) o ON o.topic = r.topic AND o.record = r.record
WHERE r.record IS NOT NULL
""",
)

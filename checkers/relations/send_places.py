"""The first committed entry of each send per partition, by attempt id or unique record."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="send_places",
    meaning="the first committed place of each attempt in each partition",
    sql="""
SELECT p.trial, p.topic, p."partition", s.session, s.attempt, s.record, s.ordinal,
       min(p."offset") AS "offset"
FROM (
    SELECT c.trial, c.topic, c."partition", c."offset", COALESCE(n.attempt, o.attempt) AS attempt
    FROM committed_log c
    LEFT JOIN sends n ON n.attempt = c.attempt_read AND n.record = c.record AND n.topic = c.topic
    LEFT JOIN (
        SELECT s.topic, s.record, min(s.attempt) AS attempt
        FROM sends s
        JOIN nameless_entries x ON x.topic = s.topic AND x.record = s.record
        GROUP BY s.topic, s.record
        HAVING count(*) = 1
    ) o ON o.topic = c.topic AND o.record = c.record
) p
JOIN sends s ON s.attempt = p.attempt
GROUP BY p.trial, p.topic, p."partition", s.session, s.attempt, s.record, s.ordinal
""",
)

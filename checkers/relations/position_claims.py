"""Records that acknowledgements of suspects, readers and the log name for the same input offsets.

Any other acknowledged send is in the log where it was acknowledged, so it cannot contradict.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="position_claims",
    meaning="records that sends, reads and the log name for one position",
    sql="""
SELECT i.trial, s.topic, s."partition", s."offset", s.record
FROM sends_in_question s
JOIN inputs i ON i.topic = s.topic
WHERE s.outcome = 'ok' AND s."offset" >= 0
UNION ALL
SELECT i.trial, r.topic, r."partition", r."offset", r.record
FROM reads r
JOIN inputs i ON i.topic = r.topic
WHERE r.record IS NOT NULL
UNION
SELECT i.trial, l.topic, l."partition", l."offset", l.record
FROM log l
JOIN inputs i ON i.topic = l.topic
JOIN (
    SELECT topic, "partition", "offset"
    FROM sends_in_question
    UNION ALL
    SELECT topic, "partition", "offset"
    FROM reads
    UNION ALL
    SELECT y.topic, y."partition", y."offset"
    FROM log y
    JOIN contested_places x ON x.h = hash(y.topic, y."partition", y."offset")
) c ON c.topic = l.topic AND c."partition" = l."partition" AND c."offset" = l."offset"
WHERE l.kind = 'data' AND l.record IS NOT NULL
""",
)

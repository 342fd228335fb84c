"""unseen: a reader with time and assignment never got an acknowledged record in the log.

This considers only readers whose assignment was never revoked, and that polled until everything had
settled. It refutes nothing: a slow reader may still get it.
"""

from onceproof.checkers.model import Anomaly, Evidence, Hop

ANOMALY = Anomaly(
    name="unseen",
    hop=Hop.PRODUCE,
    evidence=Evidence.LIVENESS,
    definition=(
        "A reader did not get an acknowledged record of the log, although it was assigned the "
        "partition and had time to read."
    ),
    example="a is at input-0@6; a reader was assigned input-0 from 0 to the end and never saw it",
    source="Jepsen, Kafka workload: unseen",
    key=("reader", "session", "topic", "partition", "offset"),
    sentence=(
        "{reader} was assigned {topic}-{partition} from {position} to the end and never got "
        "{record} at {offset}"
    ),
    hint="The reader waits behind an open transaction, or its fetch session lost a partition.",
    minimal={
        "sends": ({"attempt": "a/1", "record": "a", "offset": 6},),
        "log": ({"attempt": "a/1", "record": "a", "offset": 6},),
        "assignments": ({"position": 0},),
        "phases": (
            {"phase": "settle", "outcome": "ok"},
            {"phase": "collect", "outcome": "ok"},
        ),
    },
    sql="""
SELECT 0 AS trial, a.reader, a.session, a.topic, a."partition", l."offset", l.record, a.position
FROM assignments a
JOIN inputs i ON i.topic = a.topic AND i.complete
JOIN log l ON l.topic = a.topic AND l."partition" = a."partition" AND l."offset" >= a.position
LEFT JOIN reads r ON r.reader = a.reader AND r.session = a.session AND r.topic = l.topic
                 AND r."partition" = l."partition" AND r."offset" = l."offset"
LEFT JOIN sends n ON n.attempt = l.attempt AND n.record = l.record AND n.topic = l.topic
LEFT JOIN (
    SELECT DISTINCT topic, record FROM sends WHERE outcome = 'ok'
) o ON o.topic = l.topic AND o.record = l.record AND n.attempt IS NULL
WHERE a.until_at IS NULL AND l.kind = 'data' AND l.committed AND r.reader IS NULL
  AND (n.outcome = 'ok' OR o.record IS NOT NULL)
""",
)

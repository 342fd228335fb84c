"""inconsistent-offsets: one offset was seen with two different records.

Observers are the collected log, acknowledgements and readers. The record at an offset never changes
unless replicas disagreed.
"""

from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop

ANOMALY = Anomaly(
    name="inconsistent-offsets",
    hop=Hop.PRODUCE,
    evidence=Evidence.PRESENCE,
    definition="One (topic, partition, offset) was seen with two different records.",
    example="the send of a was acknowledged at input-0@6, where the log has b",
    source="Jepsen, Kafka workload: inconsistent-offsets",
    key=("topic", "partition", "offset"),
    sentence="{topic}-{partition}@{offset} was seen with {records} different records",
    hint=(
        "An unclean leader election, or isolated replicas that acknowledged records and were "
        "truncated later."
    ),
    headline=Headline(
        rank=11,
        one="{n} offset was seen with different records",
        many="{n} offsets were seen with different records",
    ),
    refutes=("at-most-once", "at-least-once", "exactly-once", "idempotent", "atomic"),
    # Replicas that disagree have lost or replaced records, perhaps by records sent later.
    implies=("corrupt", "duplicate", "lost-write", "phantom", "reordered-send"),
    minimal={
        "sends": (
            {"attempt": "b/1", "record": "b", "partition": 0, "offset": 6},
            {"attempt": "a/1", "record": "a", "partition": 0, "offset": 6},
        ),
        "log": (
            {"attempt": "b/1", "record": "b", "offset": 6},
            {"attempt": "a/1", "record": "a", "offset": 7},
        ),
    },
    sql="""
SELECT c.trial, c.topic, c."partition", c."offset", 'log' AS source, CAST(NULL AS VARCHAR) AS who,
       l.record, c.records
FROM position_conflicts c
JOIN log l ON l.topic = c.topic AND l."partition" = c."partition" AND l."offset" = c."offset"
WHERE l.kind = 'data' AND l.record IS NOT NULL
UNION ALL
SELECT c.trial, c.topic, c."partition", c."offset", 'send' AS source, s.attempt AS who,
       s.record, c.records
FROM position_conflicts c
JOIN sends s ON s.topic = c.topic AND s."partition" = c."partition" AND s."offset" = c."offset"
WHERE s.outcome = 'ok'
UNION ALL
SELECT c.trial, c.topic, c."partition", c."offset", 'read' AS source, r.reader AS who,
       r.record, c.records
FROM position_conflicts c
JOIN reads r ON r.topic = c.topic AND r."partition" = c."partition" AND r."offset" = c."offset"
WHERE r.record IS NOT NULL
""",
)

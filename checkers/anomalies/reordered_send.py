"""reordered-send: two sends of one session to one partition are in the log the other way round.

Compared are the first places of each send, so that a duplicate further on is no reordering.

    sends: a/1, then b/1, of one session       log: input-0@6 b, input-0@7 a
    → reordered-send b/1

Source: Jepsen's Kafka workload, `nonmonotonic-send`; KIP-98's idempotent producer keeps order.
"""

from __future__ import annotations

from typing import Final

from onceproof.checkers.model import Anomaly, Evidence, Hop

ANOMALY: Final = Anomaly(
    name="reordered-send",
    hop=Hop.PRODUCE,
    evidence=Evidence.PRESENCE,
    definition="Two sends of one session to one partition are in the log in the other order.",
    example="a was sent before b; the log has b at 6 and a at 7",
    source="Jepsen, Kafka workload: nonmonotonic-send; KIP-98",
    key=("topic", "partition", "session", "attempt"),
    sentence=(
        "{attempt} is in {topic}-{partition} at {offset}, before {after_attempt} at "
        "{after_offset}, which the same session sent earlier"
    ),
    hint=(
        "Several requests in flight without idempotence: the first failed and was sent again "
        "after the second."
    ),
    minimal={
        "sends": (
            {"attempt": "a/1", "record": "a", "offset": 7},
            {"attempt": "b/1", "record": "b", "offset": 6},
        ),
        "log": (
            {"attempt": "b/1", "record": "b", "offset": 6},
            {"attempt": "a/1", "record": "a", "offset": 7},
        ),
    },
    sql="""
SELECT p.trial, p.topic, p."partition", p.session, p.attempt, p.record, p.ordinal, p."offset",
       e.attempt AS after_attempt, p.furthest AS after_offset
FROM (
    SELECT s.*, max(s."offset") OVER (
               PARTITION BY s.trial, s."partition", s.session
               ORDER BY s.ordinal, s.attempt
           ) AS furthest
    FROM send_places s
) p
JOIN send_places e ON e.trial = p.trial AND e."partition" = p."partition"
                  AND e."offset" = p.furthest
WHERE p."offset" < p.furthest
""",
)

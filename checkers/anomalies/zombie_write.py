"""zombie-write: an effect by an instance after its successor had started, by the same clock.

It refutes nothing by itself, because a sink with fencing tokens may receive and drop the write. It
explains the duplicate or lost update that it causes.
"""

from onceproof.checkers.model import Anomaly, Evidence, Hop

ANOMALY = Anomaly(
    name="zombie-write",
    hop=Hop.PROCESS,
    evidence=Evidence.PRESENCE,
    definition="An instance wrote an effect after its successor had started.",
    example="driver#2 started at 5; driver#1 wrote the row of a at 7",
    source="KIP-98: zombie instances",
    key=("sink", "view", "record", "effect_key"),
    sentence=(
        "{instance} wrote {record} into {sink} ({position}) after its successor {successor} had "
        "started"
    ),
    hint=(
        "A process was paused (garbage collection, a frozen machine), replaced, and then resumed."
    ),
    shown_with=("at-most-once", "at-least-once", "exactly-once", "ordered"),
    implies=("duplicate-output", "reordered-output", "state-mismatch"),
    minimal={
        "instances": (
            {"instance": "driver#1", "started_at": 1},
            {"instance": "driver#2", "started_at": 5},
        ),
        "log": ({"record": "a", "offset": 6},),
        "effects": (
            {"record": "a", "position": "row 1", "instance": "driver#1", "at": 7, "clock": "clock"},
        ),
    },
    sql="""
SELECT k.trial, k.sink, k.view, e.record,
       CASE WHEN e.sink = k.sink THEN e.effect_key ELSE '~dead-letter' END AS effect_key,
       e.position, e.instance, e."at", s.successor, s.started_at AS successor_started_at
FROM effects e
JOIN outputs k ON k.view = e.view AND (k.sink = e.sink OR k.dead_letters = e.sink)
JOIN successors s ON s.instance = e.instance AND s.clock = e.clock AND s.started_at <= e."at"
LEFT JOIN foreign_effects f ON f.trial = k.trial AND f.record = e.record
                           AND e.source_topic IS NULL
WHERE e.record IS NOT NULL AND f.record IS NULL
  AND (e.source_topic IS NULL OR e.source_topic = k.topic)
""",
)

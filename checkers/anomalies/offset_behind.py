"""offset-behind: an atomic position is at or before an input whose effect exists.

An atomic position claims to be committed together with the effects. If it lags behind them, the
next start repeats them. An effect is compared with the position of its owner, or if it names none
with the furthest of all. Positions are read after effects, so a completely collected history is
sound.
"""

from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop
from onceproof.checkers.mutations import changes
from onceproof.checkers.mutations import effect_targets as places
from onceproof.checkers.mutations.mutator import Mutator

ANOMALY = Anomaly(
    name="offset-behind",
    hop=Hop.PROCESS,
    evidence=Evidence.PRESENCE,
    definition=(
        "An *atomic* position is before an input whose effect exists, so the next start repeats "
        "that input."
    ),
    example="the position stored with the ledger is 6; a at input-0@6 already has its row",
    source="process, then commit: Kafka's at-least-once",
    key=("sink", "view", "owner", "topic", "partition"),
    sentence=(
        "the atomic position of {owner} in {topic}-{partition} is {position}, but {record} at "
        "{offset} already has its effect"
    ),
    hint=(
        "The offset is committed after processing, although one transaction for both was promised."
    ),
    headline=Headline(
        rank=18,
        one="{n} stored position is before an input that already has its effect",
        many="{n} stored positions are before inputs that already have their effects",
    ),
    refutes=("at-most-once", "exactly-once"),
    # A position was reset.
    implies=("offset-regressed",),
    minimal={
        "sends": ({"attempt": "a/1", "record": "a", "offset": 6},),
        "log": ({"attempt": "a/1", "record": "a", "offset": 6},),
        "effects": ({"record": "a", "position": "row 1"},),
        "positions": ({"role": "atomic", "sink": "ledger", "offset": 6},),
        "phases": (
            {"phase": "settle", "outcome": "ok"},
            {"phase": "collect", "outcome": "ok"},
        ),
    },
    sql="""
SELECT k.trial, k.sink, k.view, b.owner, b.topic, b."partition", b.position, b.batch,
       b.record, e.effect_key, b."offset", e.position AS effect_position
FROM beyond_entries b
JOIN outputs k ON k.trial = b.trial AND k.collected
LEFT JOIN lone_positions o ON o.topic = b.topic AND o.record = b.record
JOIN sink_effects e ON e.trial = b.trial AND e.record = b.record
     AND ((e.source_offset IS NULL AND o.record IS NOT NULL)
          OR (e.source_partition = b."partition" AND e.source_offset = b."offset"))
     AND (e.owner = b.owner OR (e.owner IS NULL AND b.furthest))
""",
    mutations=(
        Mutator(
            name="atomic position set back",
            table="positions",
            key=("sink", "view", "owner", "topic", "partition"),
            kind="behind",
            change=changes.move_position,
            needs=f"""
SELECT n.trial
FROM newest_positions n
JOIN ({places.RECORD_BY_RECORD}) r ON r.trial = n.trial
WHERE n.role = 'atomic' AND n."offset" > 0""",
            targets=f"""
SELECT k.trial, k.sink, k.view, n.owner, n.role, n.topic, n."partition", n.ordinal, n.batch,
       n."offset" AS position, max(i.in_offset) AS moved
FROM newest_positions n
JOIN effect_inputs i ON i.trial = n.trial AND i.in_partition = n."partition"
     AND i.in_offset < n."offset" AND (i.owner = n.owner OR (i.owner IS NULL AND n.furthest))
{places.OUTPUT} n.trial
WHERE n.role = 'atomic'
GROUP BY k.trial, k.sink, k.view, n.owner, n.role, n.topic, n."partition", n.ordinal, n.batch,
         n."offset\"""",
        ),
    ),
)

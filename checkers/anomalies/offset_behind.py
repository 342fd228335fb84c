"""offset-behind: an atomic position lies at or before an input whose effect is there.

An atomic position claims to stand or fall with the effects. One that lags behind them repeats them
at the next start. An effect is held against the position of its own owner; one that names no owner
against the furthest of all. Positions are read after effects, so what was collected whole is sound.

    log: input-0@6 a       positions: atomic, done, input-0 at 6       effects: row 1 of a
    → offset-behind in input-0

Source: process, then commit: Kafka's at-least-once, where a transaction was promised.
"""

from __future__ import annotations

from typing import Final

from checkers.model import Anomaly, Evidence, Hop

ANOMALY: Final = Anomaly(
    name="offset-behind",
    hop=Hop.PROCESS,
    evidence=Evidence.PRESENCE,
    definition=(
        "An *atomic* position lies before an input whose effect is there: repeated at the "
        "next start."
    ),
    example="the position stored with the ledger is 6; a at input-0@6 already has its row",
    source="process, then commit: Kafka's at-least-once",
    key=("sink", "view", "owner", "topic", "partition"),
    sentence=(
        "the atomic position of {owner} in {topic}-{partition} is {position}, yet {record} at "
        "{offset} has its effect"
    ),
    sql="""
SELECT k.sink, k.view, n.owner, n.topic, n."partition", n."offset" AS position, n.batch,
       i.record, i.effect_key, i.in_offset AS "offset", i.position AS effect_position
FROM newest_positions n
JOIN effect_inputs i ON i.in_partition = n."partition" AND i.in_offset >= n."offset"
     AND (i.owner = n.owner OR (i.owner IS NULL AND n.furthest))
CROSS JOIN hop_sink k
CROSS JOIN hop_input h
WHERE n.role = 'atomic' AND h.collected
""",
)

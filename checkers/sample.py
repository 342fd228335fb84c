"""Sample a history: some records, with all their rows.

Records are chosen by the hash of their names, so the same history gives the same sample. Order
shows only between neighbours, so for some records those that follow in their partition are added.
Sampled records are compared in full, whatever the screen says, so the mutation self-check has their
data.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from onceproof.checkers.engines.overlay import Layer
from onceproof.checkers.trials import Trials, no_records

RECORDS: Final = 40
"""Sampled records per topic."""
STRETCHES: Final = 4
"""Of these, the number whose neighbours are added."""
STRETCH: Final = 24
"""Offsets searched for neighbours of each."""
SUSPECTS: Final = 200
"""Maximum number of other suspects added."""
_MANY: Final = 5_000
"""Maximum number of records added because of their transactions."""
_AT_HAND: Final = {"sends": "sends_in_question", "log": "log_in_question"}
_BY_RECORD: Final = ("sends", "log", "reads", "effects", "journal", "expected", "contributions")


def choose(layer: Layer, trials: Trials) -> pa.Table:
    """Choose records of every input; returns a table `sampled(record)`."""
    chosen = [
        layer.arrow(f"""
SELECT c.record
FROM ({_by_hash(trial, RECORDS)}) c
UNION
SELECT l.record
FROM ({_by_hash(trial, STRETCHES)}) c
JOIN log l ON l.topic = c.topic AND l."partition" = c."partition"
          AND l."offset" BETWEEN c."offset" AND c."offset" + {STRETCH - 1}
WHERE l.kind = 'data' AND l.record IS NOT NULL
""")
        for trial, _ in enumerate(trials.inputs, start=1)
    ]
    return pa.concat_tables([no_records(), *(table.cast(no_records().schema) for table in chosen)])


def _by_hash(trial: int, records: int) -> str:
    return f"""
SELECT l.record, l.topic, l."partition", l."offset"
FROM log l
JOIN inputs i ON i.topic = l.topic
WHERE i.trial = {trial} AND l.kind = 'data' AND l.record IS NOT NULL
ORDER BY hash(l.record)
LIMIT {records}
"""


def taken_out(layer: Layer) -> dict[str, pa.Table]:
    """Return the tables of single records, cut down to a sample.

    Besides the chosen records it has those of their transactions, and some other suspects.
    """
    taken = layer.arrow(f"""
SELECT r.record
FROM sampled r
UNION
SELECT w.record
FROM (
    SELECT DISTINCT s.record
    FROM sends_in_question s
    JOIN (
        SELECT DISTINCT s.txn
        FROM sends_in_question s
        JOIN sampled r ON r.record = s.record
        WHERE s.txn IS NOT NULL
    ) t ON t.txn = s.txn
    LIMIT {_MANY}
) w
UNION
SELECT l.record
FROM (
    SELECT l.record
    FROM log_in_question l
    GROUP BY l.record
    ORDER BY hash(l.record)
    LIMIT {SUSPECTS}
) l
""")
    with layer.above({"taken": taken}) as on_top:
        return {
            name: on_top.arrow(
                f"SELECT x.* FROM {_AT_HAND.get(name, name)} x JOIN taken r ON r.record = x.record"
            )
            for name in _BY_RECORD
        }

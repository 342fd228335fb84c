"""duplicate-output: more effects of a record than expected, where at least one is expected.

Judged per committed input entry, so an application that sends a record twice may have two effects.
If the history is incomplete, one of the two entries may be unknown; then only effects that name the
same input offset are proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from onceproof.checkers.effect_words import named
from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop, Row
from onceproof.checkers.mutations import changes, journal_changes
from onceproof.checkers.mutations import effect_targets as places
from onceproof.checkers.mutations.mutator import Mutator

_DEAD_LETTER: Final = "~dead-letter"
"""The effect key of dead letters in `sink_effects`."""


def _sentence(rows: Sequence[Row]) -> str:
    record, sink, seen = (rows[0][name] for name in ("record", "sink", "seen"))
    if rows[0]["effect_key"] == _DEAD_LETTER:
        return f"{record} has {seen} dead letters for {sink}; {rows[0]['expected']} expected"
    if not rows[0]["expected"]:
        return f"{record} has a dead letter and also an effect in {sink}"
    return f"{record} has {seen} effects{named(rows[0])} in {sink}; {rows[0]['expected']} expected"


ANOMALY = Anomaly(
    name="duplicate-output",
    hop=Hop.PROCESS,
    evidence=Evidence.PRESENCE,
    definition=(
        "A record has more effects with one effect key than the transformation yields, in the "
        "final state or as any reader saw it."
    ),
    example="a appears once in input and the ledger has two rows of a",
    source="Kafka's definition of exactly-once: delivery and processing are judged separately",
    key=("sink", "view", "record", "effect_key"),
    sentence="{record} has {seen} effects in {sink}; {expected} expected",
    describe=_sentence,
    hint=(
        "The pipeline was killed between its write and its commit, and processed the same input "
        "again after the restart."
    ),
    headline=Headline(
        rank=2,
        one="{n} {record} of {input} appears more than once in {sink}",
        many="{n} {records} of {input} appear more than once in {sink}",
    ),
    refutes=("at-most-once", "exactly-once"),
    # A second effect of an input may follow those of later inputs, or be a zombie's.
    implies=("offset-behind", "reordered-output", "state-mismatch"),
    minimal={
        "sends": ({"attempt": "a/1", "record": "a", "offset": 6},),
        "log": ({"attempt": "a/1", "record": "a", "offset": 6},),
        "effects": (
            {"record": "a", "position": "row 1"},
            {"record": "a", "position": "row 2"},
        ),
        "phases": (
            {"phase": "settle", "outcome": "ok"},
            {"phase": "collect", "outcome": "ok"},
        ),
    },
    sql="""
SELECT w.trial, w.sink, w.view, w.record, w.effect_key, w.expected, w.seen,
       w.topic, w."partition", w."offset", w.position, w.ordinal,
       min(COALESCE(w.batch, r.batch)) AS batch, min(COALESCE(w.owner, r.owner)) AS owner
FROM (
    SELECT e.trial, e.sink, e.view, s.record, s.effect_key, s.expected, s.seen, e.topic,
           COALESCE(e.source_partition, o."partition") AS "partition",
           COALESCE(e.source_offset, o."offset") AS "offset",
           e.position, e.ordinal, e.batch, e.owner, e.dead
    FROM surpluses s
    JOIN observed_effects e ON e.trial = s.trial AND e.record = s.record
         AND (e.effect_key = s.effect_key OR e.dead)
         AND (s.in_offset < 0
              OR (s.in_partition = e.source_partition AND s.in_offset = e.source_offset))
    LEFT JOIN lone_positions o ON o.topic = e.topic AND o.record = e.record
    WHERE s.proven
) w
LEFT JOIN (SELECT DISTINCT trial, size FROM range_blocks) z ON z.trial = w.trial
LEFT JOIN range_blocks r ON r.trial = w.trial AND r."partition" = w."partition"
     AND r.size = z.size AND r.block = w."offset" // z.size
     AND r.start_offset <= w."offset" AND w."offset" < r.end_offset
     AND r.owner = COALESCE(w.owner, r.owner)
GROUP BY w.trial, w.sink, w.view, w.record, w.effect_key, w.expected, w.seen,
         w.topic, w."partition", w."offset", w.position, w.ordinal, w.dead
""",
    undecided="""
SELECT DISTINCT s.trial
FROM surpluses s
WHERE NOT s.proven
""",
    mutations=(
        Mutator(
            name="effect copied",
            table="effects",
            key=places.SLOT,
            kind="effects",
            change=changes.copy_effect,
            needs=places.EFFECTS,
            targets=places.not_too_many("observed_effects", "position"),
        ),
        Mutator(
            name="change copied",
            table="journal",
            key=places.SLOT,
            kind="effects",
            change=journal_changes.copy_change,
            needs=places.JOURNALS,
            targets=places.not_too_many("seen_changes", "ordinal"),
        ),
    ),
)

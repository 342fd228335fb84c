"""torn-output: a record has effects in one of several atomic outputs, and none in another.

Judged per record that is in the input: one that is there twice is not torn if each output has an
effect of it. Outputs in which the record can have no effect are left out. Where an effect is
optional (and lost-output proves nothing), the other outputs decide. A dead letter is not an effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop, Row
from onceproof.checkers.mutations import changes
from onceproof.checkers.mutations.mutator import Mutator

_SURELY: Final = "c.decidable AND c.lateness IS NULL"
"""An entry that was read, and not dropped as late."""


def _sentence(rows: Sequence[Row]) -> str:
    present, missing = (
        " and ".join(dict.fromkeys(str(row[name]) for row in rows))
        for name in ("present_sink", "missing_sink")
    )
    return f"{rows[0]['record']} has effects in {present} and none in {missing}"


ANOMALY = Anomaly(
    name="torn-output",
    hop=Hop.PROCESS,
    evidence=Evidence.ABSENCE,
    definition=(
        "A record has effects in one of several outputs, but none in another where it may have "
        "some."
    ),
    example="a is in input; the ledger has a row of a, and events has none",
    source="atomicity of a write to several places",
    key=("sink", "view", "record"),
    sentence="{record} has effects in {present_sink} and none in {missing_sink}",
    describe=_sentence,
    hint=(
        "The outputs were written one after the other. The pipeline was killed in between, and did "
        "not process the input again after the restart."
    ),
    headline=Headline(
        rank=21,
        one="{n} {record} of {input} has effects in some outputs and none in others",
        many="{n} {records} of {input} have effects in some outputs and none in others",
    ),
    refutes=("atomic",),
    implies=("lost-output",),
    minimal={
        "sends": ({"attempt": "a/1", "record": "a", "offset": 6},),
        "log": ({"attempt": "a/1", "record": "a", "offset": 6},),
        "expected": ({"record": "a", "sink": "ledger"}, {"record": "a", "sink": "events"}),
        "effects": ({"record": "a", "sink": "ledger", "position": "row 1"},),
        "phases": (
            {"phase": "settle", "outcome": "ok"},
            {"phase": "collect", "outcome": "ok"},
        ),
    },
    sql=f"""
SELECT t.trial, k.sink, k.view, t.record, p.sink AS present_sink, m.sink AS missing_sink,
       c.topic, c."partition", c."offset", t.seen
FROM torn_effects t
JOIN outputs k ON k.trial = t.trial
JOIN outputs p ON p.trial = t.present
JOIN outputs m ON m.trial = t.missing
JOIN committed_input c ON c.topic = k.topic AND c.record = t.record AND {_SURELY}
""",
    # The records in a sink that is judged by its state are unknown.
    undecided=f"""
SELECT g.trial
FROM companions g
JOIN by_state b ON b.trial = g.missing
UNION
SELECT t.trial
FROM torn_effects t
JOIN outputs k ON k.trial = t.trial
LEFT JOIN committed_input c ON c.topic = k.topic AND c.record = t.record AND {_SURELY}
LEFT JOIN committed_input u ON u.topic = k.topic AND u.record = t.record AND u.lateness = 'unclear'
LEFT JOIN cut_topics x ON x.topic = k.topic
WHERE c.record IS NULL AND (u.record IS NOT NULL OR x.topic IS NOT NULL)
""",
    mutations=(
        Mutator(
            name="output torn",
            table="effects",
            key=("sink", "view", "record"),
            kind="effects",
            change=changes.drop_from,
            targets=f"""
SELECT DISTINCT g.trial, k.sink, k.view, p.record,
       m.sink AS missing_sink, m.view AS missing_view
FROM companions g
JOIN outputs k ON k.trial = g.trial
JOIN outputs m ON m.trial = g.missing AND m.view <> 'journal'
JOIN seen_effects p ON p.trial = g.present AND NOT p.dead
JOIN seen_effects e ON e.trial = g.missing AND e.record = p.record AND NOT e.dead
JOIN yields y ON y.trial = g.missing AND y.record = p.record
JOIN committed_input c ON c.topic = k.topic AND c.record = p.record AND {_SURELY}""",
        ),
    ),
)

"""offset-regressed: an atomic or resume position went backwards, not by our own surgery.

Positions that the harness wrote are never a regress themselves, and the next one of the subject is
compared with them: going on from where we put it is right.

    positions: done, input-0 at 9; then done, input-0 at 7
    → offset-regressed in input-0

Source: ANOMALIES.md; KAFKA-8659 and its kin.
"""

from __future__ import annotations

from typing import Final

from onceproof.checkers.model import Anomaly, Evidence, Hop

ANOMALY: Final = Anomaly(
    name="offset-regressed",
    hop=Hop.PROCESS,
    evidence=Evidence.PRESENCE,
    definition="An atomic or resume position went backwards, not by our own surgery.",
    example="the group's position in input-0 was 9 and then 7",
    source="ANOMALIES.md",
    key=("sink", "view", "owner", "role", "topic", "partition", "ordinal"),
    sentence=(
        "the {role} position of {owner} in {topic}-{partition} went back from {previous} to "
        "{position}"
    ),
    hint="A zombie that committed after its successor, or a group whose offsets expired.",
    minimal={
        "positions": (
            {"offset": 9},
            {"offset": 7},
        ),
    },
    sql="""
SELECT k.trial, k.sink, k.view, d.owner, d.role, d.topic, d."partition", d.ordinal, d.previous,
       d."offset" AS position, d.previous_batch, d.batch
FROM done_positions d
JOIN outputs k ON k.trial = d.trial
WHERE d."by" = 'subject' AND d."offset" < d.previous
""",
)

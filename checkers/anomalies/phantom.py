"""phantom: a record in the log that nobody called a send for.

Calls are written down before the client gets the record, so this is sound on a partial history.
A history without any send to this topic says nothing about who sent what, and is left alone. A
record that was sent to another topic is no phantom here, but corrupt.

    sends: record a       log: input-0@6 record a, input-0@7 record x
    → phantom x

Source: Jepsen's Kafka workload; Adya's dirty read taken to the log.
"""

from __future__ import annotations

from typing import Final

from checkers.model import Anomaly, Evidence, Hop

ANOMALY: Final = Anomaly(
    name="phantom",
    hop=Hop.PRODUCE,
    evidence=Evidence.PRESENCE,
    definition="A record in the log that nobody called a send for.",
    example="the log of input holds x at 7; no send of x was ever called",
    source="Jepsen, Kafka workload",
    key=("topic", "record"),
    sentence="{record} stands in {topic}-{partition}@{offset} and nobody called a send for it",
    hint=(
        "Another application writes to the same topic, or the identity is read from the wrong "
        "field."
    ),
    minimal={
        "sends": ({"attempt": "a/1", "record": "a", "offset": 6},),
        "log": (
            {"attempt": "a/1", "record": "a", "offset": 6},
            {"record": "x", "offset": 7},
        ),
    },
    sql="""
SELECT e.trial, e.topic, e.record, e."partition", e."offset", e.attempt_read AS attempt,
       e.committed, e.digest
FROM input_entries e
JOIN send_counts n ON n.trial = e.trial
LEFT JOIN sent_records s ON s.record = e.record
WHERE s.record IS NULL
""",
)

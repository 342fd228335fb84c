"""corrupt: content, key, topic or partition differs from what was sent.

The partition counts only if the acknowledgement named one. An unknown value (NULL) differs from
nothing.
"""

from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop
from onceproof.checkers.mutations import changes
from onceproof.checkers.mutations.mutator import Mutator

ANOMALY = Anomaly(
    name="corrupt",
    hop=Hop.PRODUCE,
    evidence=Evidence.PRESENCE,
    definition="Content, topic or partition differs from what was sent.",
    example="record a was sent with digest d1 and is in the log with digest d2",
    source="end-to-end checksums, as in Kafka's system tests",
    key=("topic", "record"),
    sentence="{record} at {topic}-{partition}@{offset} differs from what was sent:{differs}",
    hint=(
        "A serializer or interceptor between application and client changes the record, or its "
        "identity is read from the wrong field."
    ),
    headline=Headline(
        rank=10,
        one="{n} record in {input} differs from what was sent",
        many="{n} records in {input} differ from what was sent",
    ),
    refutes=("at-most-once", "at-least-once", "exactly-once", "idempotent", "atomic"),
    # It is in the wrong topic or partition, so the right one lacks it.
    implies=(
        "inconsistent-offsets",
        "lost-write",
        "reordered-output",
        "reordered-send",
        "skipped-read",
        "unseen",
    ),
    minimal={
        "sends": ({"attempt": "a/1", "record": "a", "digest": "d1", "offset": 6},),
        "log": ({"attempt": "a/1", "record": "a", "offset": 6, "digest": "d2"},),
    },
    sql="""
SELECT e.trial, e.topic, e.record, e."partition", e."offset", e.attempt, e.committed, e.differs,
       e.sent_digest, e.digest, e.sent_key, e.key, e.sent_topic, e.sent_partition
FROM corrupt_entries e
""",
    mutations=(
        Mutator(
            name="log entry altered",
            table="log",
            key=("topic", "record"),
            kind="log",
            change=changes.alter_entry,
            targets="""
SELECT e.trial, e.topic, e.record, e."partition", e."offset", e.digest
FROM input_entries e
JOIN record_sends r ON r.trial = e.trial AND r.record = e.record
WHERE e.committed AND e.digest IS NOT NULL""",
        ),
    ),
)

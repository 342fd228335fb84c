"""phantom: a record in the log without a call to send it, or read before any such call.

Calls are recorded before the client gets the record, so this is sound on an incomplete history.
Reads are compared with calls by the same clock only. A history without sends to this topic proves
nothing. A record that was sent to another topic is corrupt here, not a phantom.
"""

from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop

ANOMALY = Anomaly(
    name="phantom",
    hop=Hop.PRODUCE,
    evidence=Evidence.PRESENCE,
    definition=(
        "The log has a record that was never sent, or a reader saw a record before any send of it "
        "was called, on the same clock."
    ),
    example="the log of input has x at 7; no send of x was ever called",
    source="Jepsen, Kafka workload",
    key=("topic", "record"),
    sentence="{record} in {topic}-{partition}@{offset}: {why}",
    hint=(
        "Another application writes to the same topic, or the identity is read from the wrong "
        "field."
    ),
    headline=Headline(
        rank=9,
        one="{n} record was seen in {input} that had not been sent",
        many="{n} records were seen in {input} that had not been sent",
    ),
    refutes=("at-most-once", "at-least-once", "exactly-once", "idempotent", "atomic"),
    # It is one more committed entry, if the transformation accepts it.
    implies=(
        "inconsistent-offsets",
        "lost-output",
        "offset-ahead",
        "skipped-read",
        "state-mismatch",
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
       e.committed, e.digest, CAST(NULL AS VARCHAR) AS reader, CAST(NULL AS BIGINT) AS "at",
       CAST(NULL AS BIGINT) AS called_at, 'nobody called a send for it' AS why
FROM input_entries e
JOIN send_counts n ON n.trial = e.trial
LEFT JOIN sent_records s ON s.record = e.record
WHERE s.record IS NULL
UNION ALL
SELECT r.trial, r.topic, r.record, r."partition", r."offset", r.attempt,
       CAST(NULL AS BOOLEAN) AS committed, CAST(NULL AS VARCHAR) AS digest, r.reader, r."at",
       r.called_at, 'it was read before any send of it was called' AS why
FROM early_reads r
""",
)

"""precommitted-read: a `read_committed` reader saw a record before its commit was called.

The call is recorded before the client gets it, so an earlier read, by the same clock, cannot have
waited for it. Nor can a read of a transaction whose commit was never called.
"""

from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop

ANOMALY = Anomaly(
    name="precommitted-read",
    hop=Hop.PRODUCE,
    evidence=Evidence.PRESENCE,
    definition=(
        "A `read_committed` reader saw a record before its transaction's commit was called."
    ),
    example="a was read at 7; the commit of its transaction was called at 9",
    source="Jepsen, Kafka workload: precommitted-read",
    key=("topic", "record", "reader"),
    sentence=(
        "{reader} (read_committed) read {record} at {topic}-{partition}@{offset} before the commit "
        "of {txn} was called"
    ),
    hint="A late EndTxn request of an earlier transaction ended this one (KAFKA-17754).",
    headline=Headline(
        rank=13,
        one="{n} record was read as committed before its commit was called",
        many="{n} records were read as committed before their commit was called",
    ),
    refutes=("exactly-once", "atomic"),
    implies=("G1c-realtime", "aborted-read"),
    minimal={
        "sends": ({"attempt": "a/1", "record": "a", "offset": 6, "txn": "t0"},),
        "txns": ({"txn": "t0", "began_at": 1, "commit_called_at": 9},),
        "log": ({"attempt": "a/1", "record": "a", "offset": 6},),
        "reads": ({"attempt": "a/1", "record": "a", "offset": 6, "at": 7},),
    },
    sql="""
SELECT r.trial, r.topic, r.record, r.reader, r.session, r.ordinal, r."partition", r."offset",
       s.txn, r."at", t.commit_called_at
FROM read_origins r
JOIN sends s ON s.attempt = r.origin
JOIN txns t ON t.txn = s.txn
WHERE r.isolation = 'read_committed' AND t.outcome <> 'aborted'
  AND ((r.clock = t.clock AND r."at" < t.commit_called_at)
       OR (t.commit_called_at IS NULL AND t.outcome = 'info'))
""",
)

"""duplicate: a record has more committed log entries than attempts that may have happened.

If entries carry the attempt id, two entries of one attempt are enough, however often the
application sent the record. A failed send (`fail`), or one in an aborted transaction, may have
happened zero times, so one committed entry is already a duplicate. It is not a phantom, because
that send was called.
"""

from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop
from onceproof.checkers.mutations import changes
from onceproof.checkers.mutations.mutator import Mutator

ANOMALY = Anomaly(
    name="duplicate",
    hop=Hop.PRODUCE,
    evidence=Evidence.PRESENCE,
    definition=(
        "A record has more committed positions than send attempts that may have succeeded (`ok` "
        "and `info`). If records carry their attempt id, this is checked for each attempt."
    ),
    example="record a was sent once, as a/1; the log of input has a/1 at 6 and at 7",
    source="Jepsen, Kafka workload: duplicate; KIP-98",
    key=("topic", "record"),
    sentence=(
        "{record} has {positions} committed positions in {topic}, but at most {may} of its sends "
        "succeeded"
    ),
    hint=(
        "A retry without idempotence: the first request was appended and only its response was "
        "lost."
    ),
    headline=Headline(
        rank=8,
        one="{n} record is in {input} more often than it was sent",
        many="{n} records are in {input} more often than they were sent",
    ),
    refutes=("at-most-once", "exactly-once", "idempotent"),
    # The extra entry may be unprocessed, out of order, or at the offset acknowledged for another
    # record.
    implies=(
        "inconsistent-offsets",
        "lost-output",
        "offset-ahead",
        "reordered-output",
        "reordered-send",
        "skipped-read",
        "state-mismatch",
        "torn-transaction",
        "unseen",
    ),
    minimal={
        "sends": ({"attempt": "a/1", "record": "a", "offset": 7},),
        "log": (
            {"attempt": "a/1", "record": "a", "offset": 6},
            {"attempt": "a/1", "record": "a", "offset": 7},
        ),
    },
    sql="""
SELECT e.trial, e.topic, e.record, e."partition", e."offset", e.attempt, a.outcome, a.session,
       a.txn, r.may, r.positions
FROM committed_input e
JOIN record_sends r ON r.trial = e.trial AND r.record = e.record
LEFT JOIN attempts a ON a.attempt = e.attempt
WHERE a.positions > 1 OR NOT a.may
   OR (e.attempt IS NULL AND r.unattributed > r.free)
""",
    mutations=(
        Mutator(
            name="log entry copied",
            table="log",
            key=("topic", "record"),
            kind="log",
            change=changes.copy_entry,
            targets="""
SELECT c.trial, c.topic, c.record, c."partition", c."offset"
FROM committed_input c
JOIN record_sends r ON r.trial = c.trial AND r.record = c.record
WHERE c.attempt IS NOT NULL OR r.unattributed >= r.free""",
        ),
    ),
)

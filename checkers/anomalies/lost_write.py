"""lost-write: an acknowledged send has no entry in the committed log.

Sends acknowledged in a transaction that is provably committed count too; sends of aborted
transactions are not expected. Judged per attempt if entries carry the attempt id, else by counts
per record, so one entry cannot stand for two sends.
"""

from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop
from onceproof.checkers.mutations import changes
from onceproof.checkers.mutations.mutator import Mutator

ANOMALY = Anomaly(
    name="lost-write",
    hop=Hop.PRODUCE,
    evidence=Evidence.ABSENCE,
    definition=(
        "An `ok` send outside an aborted transaction, or a send that was provably committed, has "
        "no position in the committed log."
    ),
    example="send a/1 of record a: ok at input-0@7; the log of input holds no a",
    source="Jepsen, Kafka workload: lost-write",
    key=("topic", "record"),
    sentence=(
        "{record} was acknowledged by {topic} (attempt {attempt}) and is not in its committed log"
    ),
    hint=(
        "acks=1, or an unclean leader election: the leader acknowledged records that no follower "
        "had, and died."
    ),
    headline=Headline(
        rank=7,
        one="{n} record was acknowledged and is missing from {input}",
        many="{n} records were acknowledged and are missing from {input}",
    ),
    refutes=("at-least-once", "exactly-once", "idempotent", "atomic"),
    # The input entry is gone: an effect made from it is unfounded, its transaction is incomplete,
    # and the state counts an input that no longer exists.
    implies=("state-mismatch", "torn-transaction", "unfounded-output"),
    minimal={
        "sends": (
            {"attempt": "b/1", "record": "b", "offset": 6},
            {"attempt": "a/1", "record": "a", "offset": 7},
        ),
        "log": ({"attempt": "b/1", "record": "b", "offset": 6},),
        "phases": (
            {"phase": "settle", "outcome": "ok"},
            {"phase": "collect", "outcome": "ok"},
        ),
    },
    sql="""
SELECT a.trial, a.topic, a.record, a.attempt, a.session, a.txn, a.outcome,
       a."partition" AS acknowledged_partition, a."offset" AS acknowledged_offset,
       r.must AS sends, r.positions
FROM attempts a
JOIN record_sends r ON r.trial = a.trial AND r.record = a.record
WHERE a.must AND a.positions = 0 AND NOT a.gone
  AND r.unplaced - r.unplaced_gone > r.unattributed
""",
    undecided="""
SELECT DISTINCT a.trial
FROM attempts a
JOIN record_sends r ON r.trial = a.trial AND r.record = a.record
WHERE a.must AND a.positions = 0 AND a.gone AND r.unplaced > r.unattributed
""",
    mutations=(
        Mutator(
            name="log entry dropped",
            table="log",
            key=("topic", "record"),
            kind="log",
            change=changes.drop_entries,
            targets="""
SELECT DISTINCT a.trial, a.topic, a.record
FROM attempts a
JOIN committed_input c ON c.trial = a.trial AND c.record = a.record
LEFT JOIN txns t ON t.txn = a.txn
WHERE a.must AND NOT a.gone AND (a.txn IS NULL OR t.outcome = 'committed')""",
        ),
    ),
)

"""torn-transaction: part of a transaction's records and staged offsets is committed.

The client's outcome of the transaction does not matter. A commit that returned although one of its
sends had failed is torn as well.
"""

from __future__ import annotations

from typing import Final

from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop
from onceproof.checkers.mutations import changes
from onceproof.checkers.mutations.mutator import Mutator

_PARTS: Final = """
SELECT a.trial, a.topic, a.txn, a.record, a.attempt
FROM attempts a
JOIN record_sends r ON r.trial = a.trial AND r.record = a.record
JOIN txns t ON t.txn = a.txn
JOIN txn_units u ON u.txn = a.txn AND u.what = 'send' AND u.name = a.attempt
WHERE t.outcome = 'committed' AND a.must AND NOT a.gone AND u.state = 'committed'
  AND (a.positions = 1 AND r.unattributed = 0 OR a.positions = 0 AND r.positions = 1)"""
"""Sends of transactions with one log entry, which names them or can belong to no other send."""

ANOMALY = Anomaly(
    name="torn-transaction",
    hop=Hop.PRODUCE,
    evidence=Evidence.ABSENCE,
    definition=(
        "Only some of a transaction's records are committed, or its records without its staged "
        "offsets, or its staged offsets without its records. Also: a commit returned although a "
        "send of the transaction had failed."
    ),
    example="t0 sent a and b; a is in the committed log and b is not",
    source="KIP-98; Jepsen, Kafka workload: torn transactions",
    key=("topic", "txn"),
    sentence=(
        "{txn} is torn: of its sends and staged offsets, {committed} are committed, {missing} "
        "missing and {failed} failed"
    ),
    hint="A partition was added to the transaction too late, or a coordinator lost its state.",
    headline=Headline(
        rank=14,
        one="{n} transaction took effect only in part",
        many="{n} transactions took effect only in part",
    ),
    refutes=("exactly-once", "atomic"),
    # A piece of the transaction is missing, or is there although the rest is not.
    implies=("aborted-read", "duplicate", "lost-write", "unfounded-output"),
    minimal={
        "sends": (
            {"attempt": "a/1", "record": "a", "partition": 0, "offset": 0, "txn": "t0"},
            {"attempt": "b/1", "record": "b", "partition": 1, "offset": 0, "txn": "t0"},
        ),
        "txns": ({"txn": "t0"},),
        "log": (
            {"attempt": "a/1", "record": "a", "offset": 0},
            {"kind": "commit", "offset": 1},
        ),
        "phases": (
            {"phase": "settle", "outcome": "ok"},
            {"phase": "collect", "outcome": "ok"},
        ),
    },
    sql="""
SELECT w.trial, w.topic, u.txn, u.what, u.name, u.topic AS unit_topic, u."partition", u."offset",
       u.state, n.committed, n.missing, n.failed
FROM txn_units u
JOIN (
    SELECT txn,
           count(CASE WHEN state = 'committed' THEN 1 END) AS committed,
           count(CASE WHEN state = 'missing' THEN 1 END) AS missing,
           count(CASE WHEN state = 'failed' THEN 1 END) AS failed
    FROM txn_units
    GROUP BY txn
) n ON n.txn = u.txn
JOIN (
    SELECT DISTINCT i.trial, i.topic, s.txn
    FROM sends_in_question s
    JOIN inputs i ON i.topic = s.topic
) w ON w.txn = u.txn
WHERE (n.committed > 0 AND n.missing > 0) OR n.failed > 0
""",
    mutations=(
        Mutator(
            name="transaction torn",
            table="log",
            key=("topic", "txn"),
            kind="transaction",
            change=changes.uncommit_entry,
            needs=f"""
SELECT p.trial
FROM ({_PARTS}) p
GROUP BY p.trial, p.txn
HAVING count(*) > 1""",
            targets=f"""
SELECT p.trial, p.topic, p.txn, p.record, c."partition", c."offset"
FROM ({_PARTS}) p
JOIN committed_input c ON c.trial = p.trial AND c.record = p.record
     AND COALESCE(c.attempt, p.attempt) = p.attempt
JOIN (
    SELECT txn
    FROM txn_units
    WHERE state = 'committed' AND what = 'send'
    GROUP BY txn
    HAVING count(*) > 1
) several ON several.txn = p.txn""",
        ),
    ),
)

"""Mutations on the hop from the application to the topic."""

from __future__ import annotations

from typing import Final

from onceproof.checkers.model import Hop
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
"""Sends of transactions of which the log has one entry, that names them or can be no other's."""

PRODUCE: Final[tuple[Mutator, ...]] = (
    Mutator(
        name="log entry dropped",
        hop=Hop.PRODUCE,
        table="log",
        must_find="lost-write",
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
    Mutator(
        name="log entry copied",
        hop=Hop.PRODUCE,
        table="log",
        must_find="duplicate",
        key=("topic", "record"),
        kind="log",
        change=changes.copy_entry,
        targets="""
SELECT c.trial, c.topic, c.record, c."partition", c."offset"
FROM committed_input c
JOIN record_sends r ON r.trial = c.trial AND r.record = c.record
WHERE c.attempt IS NOT NULL OR r.unattributed >= r.free""",
    ),
    Mutator(
        name="log entry altered",
        hop=Hop.PRODUCE,
        table="log",
        must_find="corrupt",
        key=("topic", "record"),
        kind="log",
        change=changes.alter_entry,
        targets="""
SELECT e.trial, e.topic, e.record, e."partition", e."offset", e.digest
FROM input_entries e
JOIN record_sends r ON r.trial = e.trial AND r.record = e.record
WHERE e.committed AND e.digest IS NOT NULL""",
    ),
    Mutator(
        name="log entries swapped",
        hop=Hop.PRODUCE,
        table="log",
        must_find="reordered-send",
        key=("topic", "partition", "session", "attempt"),
        kind="order",
        change=changes.swap_entries,
        needs="""
SELECT p.trial
FROM send_places p
GROUP BY p.trial, p."partition", p.session
HAVING count(*) > 1""",
        targets="""
SELECT p.trial, p.topic, p."partition", p.session, p.attempt, p.record, p."offset",
       p.after_offset
FROM (
    SELECT s.*, max(s."offset") OVER (
               PARTITION BY s.trial, s."partition", s.session
               ORDER BY s.ordinal, s.attempt ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
           ) AS after_offset
    FROM send_places s
) p
JOIN (
    SELECT s.trial, s.attempt
    FROM send_places s
    JOIN committed_input c ON c.trial = s.trial AND c.record = s.record
    GROUP BY s.trial, s.attempt
    HAVING count(*) = 1
) o ON o.trial = p.trial AND o.attempt = p.attempt
LEFT JOIN contested_places x ON x.h = hash(p.topic, p."partition", p.after_offset)
WHERE p."offset" > p.after_offset AND x.h IS NULL""",
    ),
    Mutator(
        name="transaction torn",
        hop=Hop.PRODUCE,
        table="log",
        must_find="torn-transaction",
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
    Mutator(
        name="committed entry that was read un-committed",
        hop=Hop.PRODUCE,
        table="log",
        must_find="aborted-read",
        key=("topic", "record", "reader"),
        kind="reads",
        change=changes.uncommit_entry,
        needs="""
SELECT r.trial
FROM read_origins r
JOIN inputs i ON i.trial = r.trial
WHERE r.isolation = 'read_committed' AND i.collected""",
        targets="""
SELECT r.trial, r.topic, r.record, r.reader, r."partition", r."offset"
FROM read_origins r
JOIN committed_input c ON c.trial = r.trial AND c."partition" = r."partition"
                      AND c."offset" = r."offset" AND c.record = r.record
WHERE r.isolation = 'read_committed'""",
    ),
    Mutator(
        name="read dropped",
        hop=Hop.PRODUCE,
        table="reads",
        must_find="skipped-read",
        key=("topic", "partition", "reader", "session", "offset"),
        kind="skip",
        change=changes.drop_read,
        needs="""
SELECT p.trial
FROM read_progress p
JOIN committed_log c ON c.topic = p.topic AND c."partition" = p."partition"
                    AND c."offset" = p."offset"
GROUP BY p.trial, p.reader, p.session, p."partition"
HAVING count(*) > 2""",
        targets="""
SELECT p.trial, p.topic, p."partition", p.reader, p.session, p."offset", p.ordinal, p.record
FROM read_progress p
JOIN committed_log c ON c.topic = p.topic AND c."partition" = p."partition"
                    AND c."offset" = p."offset"
JOIN (
    SELECT reader, session, topic, "partition", min("offset") AS first, max("offset") AS last
    FROM read_progress
    GROUP BY reader, session, topic, "partition"
    HAVING count(*) = count(DISTINCT "offset")
) e ON e.reader = p.reader AND e.session = p.session AND e.topic = p.topic
   AND e."partition" = p."partition" AND p."offset" > e.first AND p."offset" < e.last
WHERE p.record IS NOT NULL AND p.reached < p."offset\"""",
    ),
    Mutator(
        name="read repeated",
        hop=Hop.PRODUCE,
        table="reads",
        must_find="repeated-read",
        key=("topic", "partition", "reader", "session", "ordinal"),
        kind="repeat",
        change=changes.repeat_read,
        needs="SELECT p.trial FROM read_progress p WHERE p.record IS NOT NULL",
        targets="""
SELECT p.trial, p.topic, p."partition", p.reader, p.session, min(p.record) AS record,
       min(p.ordinal) AS first, max(p.ordinal) + 1 AS ordinal
FROM read_progress p
WHERE p.record IS NOT NULL
GROUP BY p.trial, p.topic, p."partition", p.reader, p.session""",
    ),
)

"""Wounds on the hop from the topic to the sink, where its journal says what readers saw.

The one thing to know: an upsert that only repeats what stood there shows nothing. To lose a change
is to lose all that repeat it, and to double one is to append it once more.
"""

from __future__ import annotations

from typing import Final

from checkers.model import Hop
from checkers.wounds import journal_changes as changes
from checkers.wounds.wounding import Wounding

_SLOT = ("sink", "view", "record", "effect_key")
_OUTPUT = "JOIN outputs k ON k.view = 'journal' AND k.trial ="
_JOURNALS = """
SELECT k.trial
FROM outputs k
WHERE k.view = 'journal'"""
_ONLY_THERE = """
LEFT JOIN (SELECT DISTINCT e.sink, e.record FROM effects e WHERE e.view = 'journal') also
       ON also.sink = k.sink AND also.record = b.record"""
"""Effects of a view that somebody calls journal as well would still be seen."""

JOURNAL: Final[tuple[Wounding, ...]] = (
    Wounding(
        name="change dropped",
        hop=Hop.PROCESS,
        table="journal",
        must_find="lost-output",
        key=_SLOT,
        kind="effects",
        wound=changes.drop_changes,
        needs=_JOURNALS,
        targets=f"""
SELECT k.trial, k.sink, k.view, b.record, b.effect_key, b.in_partition, b.in_offset
FROM balance b
{_OUTPUT} b.trial
{_ONLY_THERE}
WHERE b.due > 0 AND b.seen >= b.due AND also.record IS NULL""",
    ),
    Wounding(
        name="change copied",
        hop=Hop.PROCESS,
        table="journal",
        must_find="duplicate-output",
        key=_SLOT,
        kind="effects",
        wound=changes.copy_change,
        needs=_JOURNALS,
        targets=f"""
SELECT k.trial, k.sink, k.view, b.record, b.effect_key, b.expected, b.seen,
       min(j.ordinal) AS ordinal
FROM balance b
JOIN seen_changes j ON j.trial = b.trial AND j.record = b.record
     AND j.effect_key = b.effect_key AND NOT j.dead
     AND (b.in_offset < 0
          OR (j.source_partition = b.in_partition AND j.source_offset = b.in_offset))
{_OUTPUT} b.trial
WHERE b.expected > 0 AND b.seen > 0 AND b.seen <= b.expected
GROUP BY k.trial, k.sink, k.view, b.record, b.effect_key, b.in_partition, b.in_offset,
         b.expected, b.seen""",
    ),
    Wounding(
        name="change altered",
        hop=Hop.PROCESS,
        table="journal",
        must_find="wrong-output",
        key=_SLOT,
        kind="effects",
        wound=changes.alter_change,
        needs=_JOURNALS,
        targets=f"""
SELECT k.trial, k.sink, k.view, j.record, j.effect_key, j.ordinal, j.digest
FROM seen_changes j
{_OUTPUT} j.trial
JOIN (SELECT DISTINCT topic, record FROM committed_input) c
  ON c.topic = k.topic AND c.record = j.record
JOIN yields y ON y.trial = j.trial AND y.record = j.record AND y.effect_key = j.effect_key
WHERE NOT j.dead AND j.digest IS NOT NULL""",
    ),
    Wounding(
        name="change dropped before a resume position",
        hop=Hop.PROCESS,
        table="journal",
        must_find="offset-ahead",
        key=("sink", "view", "owner", "topic", "partition"),
        kind="effects",
        wound=changes.drop_changes,
        needs=f"""
SELECT n.trial
FROM newest_positions n
JOIN ({_JOURNALS}) r ON r.trial = n.trial
WHERE n.role = 'resume' AND n."offset" > 0""",
        targets=f"""
SELECT k.trial, k.sink, k.view, n.owner, n.topic, n."partition", b.record, b.effect_key,
       b.in_partition, b.in_offset
FROM newest_positions n
JOIN effect_inputs i ON i.trial = n.trial AND i.in_partition = n."partition"
                    AND i.in_offset < n."offset"
JOIN balance b ON b.trial = n.trial AND b.record = i.record AND b.effect_key = i.effect_key
     AND (b.in_offset < 0 OR (b.in_partition = i.in_partition AND b.in_offset = i.in_offset))
JOIN committed_input c ON c.topic = n.topic AND c.decidable AND c."partition" = i.in_partition
     AND c."offset" = i.in_offset
{_OUTPUT} n.trial
{_ONLY_THERE}
WHERE n.role = 'resume' AND b.due > 0 AND b.seen >= b.due AND also.record IS NULL""",
    ),
    Wounding(
        name="changes swapped",
        hop=Hop.PROCESS,
        table="journal",
        must_find="reordered-output",
        key=("sink", "view", "key", "partition", "offset"),
        kind="order",
        wound=changes.swap_changes,
        needs=f"""
SELECT p.trial
FROM effect_places p
JOIN ({_JOURNALS}) r ON r.trial = p.trial
GROUP BY p.trial, p.key, p."partition"
HAVING count(*) > 1""",
        targets=f"""
SELECT k.trial, k.sink, k.view, p.key, p."partition", p."offset", p.record,
       p.first_ordinal AS ordinal, p.after_ordinal
FROM (
    SELECT w.*, max(w.first_ordinal) OVER (
               PARTITION BY w.trial, w.key, w."partition"
               ORDER BY w."offset" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
           ) AS after_ordinal
    FROM effect_places w
) p
JOIN (
    SELECT trial, record
    FROM effects_in_question
    GROUP BY trial, record
    HAVING count(*) = 1
) o ON o.trial = p.trial AND o.record = p.record
{_OUTPUT} p.trial
WHERE p.first_ordinal > p.after_ordinal""",
    ),
)

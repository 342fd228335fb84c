"""Places for mutations among effects, shared by tables and journals."""

from __future__ import annotations

from typing import Final

SLOT: Final = ("sink", "view", "record", "effect_key")
"""The columns that identify the effects of one record."""
OUTPUT: Final = "JOIN outputs k ON k.trial ="
RECORD_BY_RECORD: Final = """
SELECT k.trial
FROM outputs k
LEFT JOIN by_state b ON b.trial = k.trial
WHERE b.trial IS NULL"""
EFFECTS: Final = f"""{RECORD_BY_RECORD} AND k.view <> 'journal'"""
"""Trials of effects in a table; journals have mutations of their own."""
JOURNALS: Final = """
SELECT k.trial
FROM outputs k
WHERE k.view = 'journal'"""
ONLY_THERE: Final = """
LEFT JOIN (SELECT DISTINCT e.sink, e.record FROM effects e WHERE e.view = 'journal') also
       ON also.sink = k.sink AND also.record = b.record"""
"""Matches effects that an effects view named journal would still show."""


def delivered(join: str = "", where: str = "") -> str:
    """Return a query for records of which one effect less is too few."""
    return f"""
SELECT k.trial, k.sink, k.view, b.record, b.effect_key, b.in_partition, b.in_offset, b.due, b.seen
FROM balance b
{OUTPUT} b.trial
{join}
WHERE b.due > 0 AND b.seen >= b.due {where}"""


def delivered_before_resume(join: str = "", where: str = "") -> str:
    """Return the same for inputs before a position from which the subject would resume."""
    return f"""
SELECT k.trial, k.sink, k.view, n.owner, n.topic, n."partition", b.record, b.effect_key,
       b.in_partition, b.in_offset, b.due, b.seen
FROM newest_positions n
JOIN effect_inputs i ON i.trial = n.trial AND i.in_partition = n."partition"
                    AND i.in_offset < n."offset"
JOIN balance b ON b.trial = n.trial AND b.record = i.record AND b.effect_key = i.effect_key
     AND (b.in_offset < 0 OR (b.in_partition = i.in_partition AND b.in_offset = i.in_offset))
JOIN committed_input c ON c.topic = n.topic AND c.decidable AND c."partition" = i.in_partition
     AND c."offset" = i.in_offset
{OUTPUT} n.trial
{join}
WHERE n.role = 'resume' AND b.due > 0 AND b.seen >= b.due {where}"""


def not_too_many(table: str, place: str) -> str:
    """Return a query for effects that are no more frequent than expected, with their first row.

    `place` is the column of `table` that says where, or as which, an effect was seen.
    """
    return f"""
SELECT k.trial, k.sink, k.view, b.record, b.effect_key, b.expected, b.seen,
       min(e.{place}) AS {place}
FROM balance b
JOIN {table} e ON e.trial = b.trial AND e.record = b.record
     AND e.effect_key = b.effect_key AND NOT e.dead
     AND (b.in_offset < 0
          OR (e.source_partition = b.in_partition AND e.source_offset = b.in_offset))
{OUTPUT} b.trial
WHERE b.expected > 0 AND b.seen > 0 AND b.seen <= b.expected
GROUP BY k.trial, k.sink, k.view, b.record, b.effect_key, b.in_partition, b.in_offset,
         b.expected, b.seen"""


IN_ORDER: Final = f"""
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
{OUTPUT} p.trial
WHERE p.first_ordinal > p.after_ordinal"""
"""Single effects after those of earlier inputs."""

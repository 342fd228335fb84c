"""Mutations on the hop from the topic to the sink, where its journal says what readers saw.

An upsert that only repeats what stood there shows nothing. To lose a change
is to lose all that repeat it, and to double one is to append it once more.
"""

from __future__ import annotations

from typing import Final

from onceproof.checkers.model import Hop
from onceproof.checkers.mutations import effect_targets as places
from onceproof.checkers.mutations import journal_changes as changes
from onceproof.checkers.mutations.mutator import Mutator

_JOURNALS = """
SELECT k.trial
FROM outputs k
WHERE k.view = 'journal'"""
_ONLY_THERE = """
LEFT JOIN (SELECT DISTINCT e.sink, e.record FROM effects e WHERE e.view = 'journal') also
       ON also.sink = k.sink AND also.record = b.record"""
"""Effects of a view that somebody calls journal as well would still be seen."""

JOURNAL: Final[tuple[Mutator, ...]] = (
    Mutator(
        name="change dropped",
        hop=Hop.PROCESS,
        table="journal",
        must_find="lost-output",
        key=places.SLOT,
        kind="effects",
        change=changes.drop_changes,
        needs=_JOURNALS,
        targets=places.delivered(_ONLY_THERE, "AND also.record IS NULL"),
    ),
    Mutator(
        name="change copied",
        hop=Hop.PROCESS,
        table="journal",
        must_find="duplicate-output",
        key=places.SLOT,
        kind="effects",
        change=changes.copy_change,
        needs=_JOURNALS,
        targets=places.not_too_many("seen_changes", "ordinal"),
    ),
    Mutator(
        name="change altered",
        hop=Hop.PROCESS,
        table="journal",
        must_find="wrong-output",
        key=places.SLOT,
        kind="effects",
        change=changes.alter_change,
        needs=_JOURNALS,
        targets=f"""
SELECT k.trial, k.sink, k.view, j.record, j.effect_key, j.ordinal, j.digest
FROM seen_changes j
{places.OUTPUT} j.trial
JOIN (SELECT DISTINCT topic, record FROM committed_input) c
  ON c.topic = k.topic AND c.record = j.record
JOIN yields y ON y.trial = j.trial AND y.record = j.record AND y.effect_key = j.effect_key
WHERE NOT j.dead AND j.digest IS NOT NULL""",
    ),
    Mutator(
        name="change dropped before a resume position",
        hop=Hop.PROCESS,
        table="journal",
        must_find="offset-ahead",
        key=("sink", "view", "owner", "topic", "partition"),
        kind="effects",
        change=changes.drop_changes,
        needs=f"""
SELECT n.trial
FROM newest_positions n
JOIN ({_JOURNALS}) r ON r.trial = n.trial
WHERE n.role = 'resume' AND n."offset" > 0""",
        targets=places.delivered_before_resume(_ONLY_THERE, "AND also.record IS NULL"),
    ),
    Mutator(
        name="changes swapped",
        hop=Hop.PROCESS,
        table="journal",
        must_find="reordered-output",
        key=("sink", "view", "key", "partition", "offset"),
        kind="order",
        change=changes.swap_changes,
        needs=f"""
SELECT p.trial
FROM effect_places p
JOIN ({_JOURNALS}) r ON r.trial = p.trial
GROUP BY p.trial, p.key, p."partition"
HAVING count(*) > 1""",
        targets=places.IN_ORDER,
    ),
)

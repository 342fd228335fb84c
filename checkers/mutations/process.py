"""Mutations on the hop from the topic to the sink."""

from __future__ import annotations

from typing import Final

from onceproof.checkers.model import Hop
from onceproof.checkers.mutations import changes
from onceproof.checkers.mutations import effect_targets as places
from onceproof.checkers.mutations.mutator import Mutator

_RECORD_BY_RECORD = """
SELECT k.trial
FROM outputs k
LEFT JOIN by_state b ON b.trial = k.trial
WHERE b.trial IS NULL"""
_EFFECTS = f"""{_RECORD_BY_RECORD} AND k.view <> 'journal'"""
"""What readers saw has mutations of its own, in `journal`."""

PROCESS: Final[tuple[Mutator, ...]] = (
    Mutator(
        name="effect dropped",
        hop=Hop.PROCESS,
        table="effects",
        must_find="lost-output",
        key=places.SLOT,
        kind="effects",
        change=changes.drop_effects,
        needs=_EFFECTS,
        targets=places.delivered(),
    ),
    Mutator(
        name="effect copied",
        hop=Hop.PROCESS,
        table="effects",
        must_find="duplicate-output",
        key=places.SLOT,
        kind="effects",
        change=changes.copy_effect,
        needs=_EFFECTS,
        targets=places.not_too_many("observed_effects", "position"),
    ),
    Mutator(
        name="effect altered",
        hop=Hop.PROCESS,
        table="effects",
        must_find="wrong-output",
        key=places.SLOT,
        kind="effects",
        change=changes.alter_effect,
        needs=_EFFECTS,
        targets=f"""
SELECT k.trial, k.sink, k.view, e.record, e.effect_key, e.position, e.digest
FROM observed_effects e
JOIN (SELECT DISTINCT topic, record FROM committed_input) c
  ON c.topic = e.topic AND c.record = e.record
JOIN yields y ON y.trial = e.trial AND y.record = e.record AND y.effect_key = e.effect_key
{places.OUTPUT} e.trial""",
    ),
    Mutator(
        name="effect dropped before a resume position",
        hop=Hop.PROCESS,
        table="effects",
        must_find="offset-ahead",
        key=("sink", "view", "owner", "topic", "partition"),
        kind="effects",
        change=changes.drop_effects,
        needs=f"""
SELECT n.trial
FROM newest_positions n
JOIN ({_EFFECTS}) r ON r.trial = n.trial
WHERE n.role = 'resume' AND n."offset" > 0""",
        targets=places.delivered_before_resume(),
    ),
    Mutator(
        name="position set back",
        hop=Hop.PROCESS,
        table="positions",
        must_find="offset-regressed",
        key=("sink", "view", "owner", "role", "topic", "partition", "ordinal"),
        kind="regress",
        change=changes.move_position,
        needs="""
SELECT d.trial
FROM done_positions d
WHERE d.newest AND d."by" = 'subject' AND d.previous > 0""",
        targets=f"""
SELECT k.trial, k.sink, k.view, d.owner, d.role, d.topic, d."partition", d.ordinal, d.batch,
       d."offset" AS position, d.previous - 1 AS moved
FROM done_positions d
{places.OUTPUT} d.trial
WHERE d.newest AND d."by" = 'subject' AND d.previous > 0""",
    ),
    Mutator(
        name="atomic position set back",
        hop=Hop.PROCESS,
        table="positions",
        must_find="offset-behind",
        key=("sink", "view", "owner", "topic", "partition"),
        kind="behind",
        change=changes.move_position,
        needs=f"""
SELECT n.trial
FROM newest_positions n
JOIN ({_RECORD_BY_RECORD}) r ON r.trial = n.trial
WHERE n.role = 'atomic' AND n."offset" > 0""",
        targets=f"""
SELECT k.trial, k.sink, k.view, n.owner, n.role, n.topic, n."partition", n.ordinal, n.batch,
       n."offset" AS position, max(i.in_offset) AS moved
FROM newest_positions n
JOIN effect_inputs i ON i.trial = n.trial AND i.in_partition = n."partition"
     AND i.in_offset < n."offset" AND (i.owner = n.owner OR (i.owner IS NULL AND n.furthest))
{places.OUTPUT} n.trial
WHERE n.role = 'atomic'
GROUP BY k.trial, k.sink, k.view, n.owner, n.role, n.topic, n."partition", n.ordinal, n.batch,
         n."offset\"""",
    ),
    Mutator(
        name="range shifted",
        hop=Hop.PROCESS,
        table="ranges",
        must_find="offset-gap",
        key=("kind", "sink", "view", "owner", "topic", "partition", "batch"),
        kind="effects",
        change=changes.move_range,
        needs="SELECT r.trial FROM committed_ranges r WHERE r.start_offset = r.reached",
        targets=f"""
SELECT 'gap' AS kind, k.trial, k.sink, k.view, r.owner, r.topic, r."partition", r.batch,
       r.execution, r.start_offset, r.end_offset
FROM committed_ranges r
LEFT JOIN cut_partitions c ON c.topic = r.topic AND c."partition" = r."partition"
{places.OUTPUT} r.trial
WHERE r.start_offset = r.reached AND r.start_offset >= COALESCE(c.log_start, 0)""",
    ),
    Mutator(
        name="effects swapped",
        hop=Hop.PROCESS,
        table="effects",
        must_find="reordered-output",
        key=("sink", "view", "key", "partition", "offset"),
        kind="order",
        change=changes.swap_effects,
        needs="""
SELECT p.trial
FROM effect_places p
JOIN outputs k ON k.trial = p.trial AND k.view <> 'journal'
GROUP BY p.trial, p.key, p."partition"
HAVING count(*) > 1""",
        targets=places.IN_ORDER,
    ),
    Mutator(
        name="state altered",
        hop=Hop.PROCESS,
        table="state",
        must_find="state-mismatch",
        key=("sink", "view", "state_key", "aggregate"),
        kind="state",
        change=changes.alter_state,
        of_the_whole=True,
        needs="SELECT x.trial FROM expected_states x",
        targets="""
SELECT DISTINCT k.trial, k.sink, k.view, s.state_key, s.aggregate
FROM state s
JOIN outputs k ON k.sink = s.sink AND k.view = s.view
JOIN expected_states x ON x.trial = k.trial AND x.state_key = s.state_key
                      AND x.aggregate = s.aggregate
LEFT JOIN cut_topics c ON c.topic = k.topic
WHERE c.topic IS NULL""",
    ),
)

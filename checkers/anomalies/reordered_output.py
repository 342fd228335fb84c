"""reordered-output: effects of one key in another order than their inputs.

This compares the first effect of each input entry, in the sink's order, among inputs of one key in
one partition.
"""

from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop
from onceproof.checkers.mutations import changes, journal_changes
from onceproof.checkers.mutations import effect_targets as places
from onceproof.checkers.mutations.mutator import Mutator

ANOMALY = Anomaly(
    name="reordered-output",
    hop=Hop.PROCESS,
    evidence=Evidence.PRESENCE,
    definition="Effects of one key are in a different order than their inputs.",
    example="a is before b in input-0, with the same key; the ledger has b first",
    source="per-key order as partitioned logs promise it",
    key=("sink", "view", "key", "partition", "offset"),
    sentence=(
        "the effect of {record} at {topic}-{partition}@{offset} comes before that of "
        "{after_offset}, an earlier input of key {key}"
    ),
    hint=(
        "Parallel writers that are not partitioned by key, or a retry of a record after the next "
        "one was written."
    ),
    headline=Headline(
        rank=16,
        one="{n} pair of effects is in {sink} in the wrong order",
        many="{n} pairs of effects are in {sink} in the wrong order",
    ),
    refutes=("ordered",),
    minimal={
        "sends": (
            {"attempt": "a/1", "record": "a", "key": "k", "offset": 6},
            {"attempt": "b/1", "record": "b", "key": "k", "offset": 7},
        ),
        "log": (
            {"attempt": "a/1", "record": "a", "key": "k", "offset": 6},
            {"attempt": "b/1", "record": "b", "key": "k", "offset": 7},
        ),
        "effects": (
            {
                "record": "b",
                "position": "row 1",
                "source_topic": "input",
                "source_partition": 0,
                "source_offset": 7,
            },
            {
                "record": "a",
                "position": "row 2",
                "source_topic": "input",
                "source_partition": 0,
                "source_offset": 6,
            },
        ),
    },
    sql="""
SELECT k.trial, k.sink, k.view, w.key, w."partition", w."offset", w.record, k.topic,
       w.first_ordinal AS ordinal, e."offset" AS after_offset, w.furthest AS after_ordinal
FROM (
    SELECT p.*, max(p.first_ordinal) OVER (
               PARTITION BY p.trial, p.key, p."partition" ORDER BY p."offset"
           ) AS furthest
    FROM effect_places p
) w
JOIN outputs k ON k.trial = w.trial
JOIN (
    SELECT trial, key, "partition", first_ordinal, min("offset") AS "offset"
    FROM effect_places
    GROUP BY trial, key, "partition", first_ordinal
) e ON e.trial = w.trial AND e.key = w.key AND e."partition" = w."partition"
   AND e.first_ordinal = w.furthest
WHERE w.first_ordinal < w.furthest
""",
    mutations=(
        Mutator(
            name="effects swapped",
            table="effects",
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
            name="changes swapped",
            table="journal",
            key=("sink", "view", "key", "partition", "offset"),
            kind="order",
            change=journal_changes.swap_changes,
            needs=f"""
SELECT p.trial
FROM effect_places p
JOIN ({places.JOURNALS}) r ON r.trial = p.trial
GROUP BY p.trial, p.key, p."partition"
HAVING count(*) > 1""",
            targets=places.IN_ORDER,
        ),
    ),
)

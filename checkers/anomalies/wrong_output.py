"""wrong-output: the effect's content is not what the transformation yields.

This includes an effect key that the transformation does not yield for a record with committed
entries. If the input is corrupt or a phantom, the pipeline is not at fault. A non-deterministic
pipeline shows here.
"""

from collections.abc import Sequence

from onceproof.checkers.content_differences import differences
from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop, Row
from onceproof.checkers.mutations import changes, journal_changes
from onceproof.checkers.mutations import effect_targets as places
from onceproof.checkers.mutations.mutator import Mutator

_SENTENCE = "{record} has an effect in {sink} ({position}) that the transformation does not yield"


def _describe(rows: Sequence[Row]) -> str:
    row = rows[0]
    fields = differences(row["expected_digest"], row["digest"])
    return f"{_SENTENCE.format_map(row)}{': ' if fields else ''}{fields}"


ANOMALY = Anomaly(
    name="wrong-output",
    hop=Hop.PROCESS,
    evidence=Evidence.PRESENCE,
    definition="The effect's content is not what the transformation yields.",
    example="the row of a must have digest d1 and has d2",
    source="KIP-129: exactly-once processing in Kafka Streams",
    key=("sink", "view", "record", "effect_key"),
    sentence=_SENTENCE,
    describe=_describe,
    hint="The transformation is not deterministic, or it mixes up the state of two attempts.",
    headline=Headline(
        rank=3,
        one="{n} {record} is in {sink} with the wrong content",
        many="{n} {records} are in {sink} with the wrong content",
    ),
    refutes=("at-most-once", "at-least-once", "exactly-once"),
    # An effect under a wrong key is missing under the right one.
    implies=("duplicate-output", "lost-output", "offset-ahead"),
    minimal={
        "sends": ({"attempt": "a/1", "record": "a", "offset": 6},),
        "log": ({"attempt": "a/1", "record": "a", "offset": 6},),
        "expected": ({"record": "a", "digest": "d1"},),
        "effects": ({"record": "a", "position": "row 1", "digest": "d2"},),
    },
    sql="""
SELECT e.trial, e.sink, e.view, e.record, e.effect_key, e.position, e.ordinal, e.digest,
       y.digest AS expected_digest, e.source_partition AS "partition",
       e.source_offset AS "offset", e.owner, e.batch
FROM observed_effects e
JOIN stated x0 ON x0.trial = e.trial
JOIN (SELECT DISTINCT topic, record FROM committed_input) c
  ON c.topic = e.topic AND c.record = e.record
LEFT JOIN send_counts n ON n.topic = e.topic
LEFT JOIN sent_records s ON s.record = e.record
LEFT JOIN (SELECT DISTINCT topic, record FROM corrupt_entries) d
       ON d.topic = e.topic AND d.record = e.record
LEFT JOIN (
    SELECT trial, record, effect_key, min(digest) AS digest
    FROM expected_in_question
    GROUP BY trial, record, effect_key
) y ON y.trial = e.trial AND y.record = e.record AND y.effect_key = e.effect_key
LEFT JOIN wrong_contents w ON w.trial = e.trial AND w.record = e.record
     AND w.effect_key = e.effect_key AND w.digest = e.digest
     AND (w.in_offset < 0
          OR (w.in_partition = e.source_partition AND w.in_offset = e.source_offset))
LEFT JOIN (SELECT DISTINCT trial, record, effect_key, digest FROM expected_in_question) x
       ON x.trial = e.trial AND x.record = e.record AND x.effect_key = e.effect_key
      AND x.digest = e.digest
WHERE NOT e.dead AND e.digest IS NOT NULL AND d.record IS NULL
  AND (x.record IS NULL OR w.record IS NOT NULL)
  AND (s.record IS NOT NULL OR n.sends IS NULL)
""",
    mutations=(
        Mutator(
            name="effect altered",
            table="effects",
            key=places.SLOT,
            kind="effects",
            change=changes.alter_effect,
            needs=places.EFFECTS,
            targets=f"""
SELECT k.trial, k.sink, k.view, e.record, e.effect_key, e.position, e.digest
FROM observed_effects e
JOIN (SELECT DISTINCT topic, record FROM committed_input) c
  ON c.topic = e.topic AND c.record = e.record
JOIN yields y ON y.trial = e.trial AND y.record = e.record AND y.effect_key = e.effect_key
{places.OUTPUT} e.trial""",
        ),
        Mutator(
            name="change altered",
            table="journal",
            key=places.SLOT,
            kind="effects",
            change=journal_changes.alter_change,
            needs=places.JOURNALS,
            targets=f"""
SELECT k.trial, k.sink, k.view, j.record, j.effect_key, j.ordinal, j.digest
FROM seen_changes j
{places.OUTPUT} j.trial
JOIN (SELECT DISTINCT topic, record FROM committed_input) c
  ON c.topic = k.topic AND c.record = j.record
JOIN yields y ON y.trial = j.trial AND y.record = j.record AND y.effect_key = j.effect_key
WHERE NOT j.dead AND j.digest IS NOT NULL""",
        ),
    ),
)

"""lost-output: fewer effects of a record than expected, by (record, effect key).

Expected are the record's committed input entries × what each yields (× 1 where the subject claims
to drop repeated sends). If every effect names its input offset, each entry is judged alone, so a
duplicate cannot hide a loss.

If an acknowledged record's entry was deleted from the log, it may never have been read: then fewer
effects than expected are undecided.
"""

from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop
from onceproof.checkers.mutations import changes, journal_changes
from onceproof.checkers.mutations import effect_targets as places
from onceproof.checkers.mutations.mutator import Mutator

ANOMALY = Anomaly(
    name="lost-output",
    hop=Hop.PROCESS,
    evidence=Evidence.ABSENCE,
    definition="A record has fewer effects than expected, counted by record and effect key.",
    example="a is at input-0@6 and the ledger has no row of a",
    source="at-least-once processing, as commonly documented",
    key=("sink", "view", "record", "effect_key"),
    sentence=(
        "{record} at {topic}-{partition}@{offset} has {seen} of {expected} expected "
        "effects{named} in {sink}"
    ),
    hint=(
        "The position was committed before the write, or the write was acknowledged before it "
        "was durable."
    ),
    headline=Headline(
        rank=1,
        one="{n} {record} of {input} is missing from {sink}",
        many="{n} {records} of {input} are missing from {sink}",
    ),
    refutes=("at-least-once", "exactly-once"),
    # After a restart the input is not read again, so the effect is also missing in the state.
    # Another output may have it.
    implies=("offset-ahead", "reordered-output", "state-mismatch", "torn-output"),
    minimal={
        "sends": ({"attempt": "a/1", "record": "a", "offset": 6},),
        "log": ({"attempt": "a/1", "record": "a", "offset": 6},),
        "phases": (
            {"phase": "settle", "outcome": "ok"},
            {"phase": "collect", "outcome": "ok"},
        ),
    },
    sql="""
SELECT k.trial, k.sink, k.view, s.record, s.effect_key, c.topic, c."partition", c."offset",
       s.due AS expected, s.seen, min(r.owner) AS owner, min(r.batch) AS batch
FROM shortages s
JOIN outputs k ON k.trial = s.trial
JOIN committed_input c ON c.topic = k.topic AND c.record = s.record AND c.decidable
     AND c.lateness IS NULL
     AND (s.in_offset < 0 OR (s.in_partition = c."partition" AND s.in_offset = c."offset"))
LEFT JOIN (SELECT DISTINCT trial, size FROM range_blocks) z ON z.trial = k.trial
LEFT JOIN range_blocks r ON r.trial = k.trial AND r."partition" = c."partition"
     AND r.size = z.size AND r.block = c."offset" // z.size
     AND r.start_offset <= c."offset" AND c."offset" < r.end_offset
GROUP BY k.trial, k.sink, k.view, s.record, s.effect_key, c.topic, c."partition", c."offset",
         s.due, s.seen
""",
    undecided="""
SELECT b.trial
FROM balance b
WHERE b.seen >= b.due AND b.seen < b.due_in_all
UNION
SELECT k.trial
FROM outputs k
JOIN inputs i ON i.topic = k.topic
JOIN record_sends r ON r.trial = i.trial
LEFT JOIN stated s ON s.trial = k.trial
LEFT JOIN by_state b ON b.trial = k.trial
LEFT JOIN yields y ON y.trial = k.trial AND y.record = r.record
LEFT JOIN (
    SELECT trial, record, effect_key, sum(seen) AS seen
    FROM seen_effects
    GROUP BY trial, record, effect_key
) e ON e.trial = k.trial AND e.record = r.record AND e.effect_key = y.effect_key
LEFT JOIN (
    SELECT trial, record, sum(seen) AS seen
    FROM seen_effects
    WHERE dead
    GROUP BY trial, record
) d ON d.trial = k.trial AND d.record = r.record
WHERE r.unplaced_gone > 0 AND r.unplaced > r.unattributed AND b.trial IS NULL
  AND COALESCE(
      COALESCE(e.seen, 0) < y.n_due
          * (CASE WHEN k.deduplicates THEN 1 ELSE r.positions + r.unplaced_gone END
             - COALESCE(d.seen, 0)),
      s.trial IS NULL
  )
""",
    mutations=(
        Mutator(
            name="effect dropped",
            table="effects",
            key=places.SLOT,
            kind="effects",
            change=changes.drop_effects,
            needs=places.EFFECTS,
            targets=places.delivered(),
        ),
        Mutator(
            name="change dropped",
            table="journal",
            key=places.SLOT,
            kind="effects",
            change=journal_changes.drop_changes,
            needs=places.JOURNALS,
            targets=places.delivered(places.ONLY_THERE, "AND also.record IS NULL"),
        ),
    ),
)

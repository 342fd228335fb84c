"""unfounded-output: an effect of an input that has no committed entry.

The pipeline processed what it should not have read: a record of an aborted transaction, or one that
was later lost from the log. An effect that names an input offset is unfounded if that offset does
not hold its record, committed. Effects of unsent records are phantom-output.
"""

from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop

ANOMALY = Anomaly(
    name="unfounded-output",
    hop=Hop.PROCESS,
    evidence=Evidence.ABSENCE,
    definition="The sink has an effect of an input that has no committed position.",
    example="a was only sent in an aborted transaction and the ledger has a row of a",
    source="Adya G1a, applied to the output of a pipeline",
    key=("sink", "view", "record", "effect_key"),
    sentence=(
        "{record} has an effect in {sink} ({position}), but no committed position that the effect "
        "could come from"
    ),
    hint=(
        "The source reads with read_uncommitted, which is the default of most clients and of Spark."
    ),
    headline=Headline(
        rank=5,
        one="{n} record is in {sink} without a committed input",
        many="{n} records are in {sink} without a committed input",
    ),
    refutes=("exactly-once",),
    # Effects that name no offset are indistinguishable, so an unfounded one is also one too many.
    implies=("duplicate-output", "lost-output", "offset-ahead"),
    minimal={
        "sends": ({"attempt": "a/1", "record": "a", "offset": 6, "txn": "t0"},),
        "txns": ({"txn": "t0", "outcome": "aborted"},),
        "log": ({"attempt": "a/1", "record": "a", "offset": 6, "committed": False},),
        "effects": ({"record": "a", "position": "row 1"},),
        "phases": (
            {"phase": "settle", "outcome": "ok"},
            {"phase": "collect", "outcome": "ok"},
        ),
    },
    sql="""
SELECT e.trial, e.sink, e.view, e.record, e.effect_key, e.position, e.ordinal, e.topic,
       e.source_partition AS "partition", e.source_offset AS "offset", e.owner, e.batch
FROM observed_effects e
LEFT JOIN cut_topics cut ON cut.topic = e.topic
LEFT JOIN cut_partitions p ON p.topic = e.topic AND p."partition" = e.source_partition
LEFT JOIN (SELECT DISTINCT topic, record FROM input_entries) i
       ON i.topic = e.topic AND i.record = e.record
LEFT JOIN (SELECT DISTINCT topic, record FROM committed_input) c
       ON c.topic = e.topic AND c.record = e.record
LEFT JOIN sent_records s ON s.record = e.record
LEFT JOIN committed_input at_source ON at_source.topic = e.topic AND at_source.record = e.record
     AND at_source."partition" = e.source_partition AND at_source."offset" = e.source_offset
WHERE (i.record IS NOT NULL OR s.record IS NOT NULL)
  AND ((c.record IS NULL AND cut.topic IS NULL)
       OR (e.source_offset IS NOT NULL AND at_source.record IS NULL
           AND (p."partition" IS NULL
                OR (NOT p.compacted AND e.source_offset >= p.log_start))))
""",
    undecided="""
SELECT DISTINCT e.trial
FROM observed_effects e
JOIN cut_topics cut ON cut.topic = e.topic
LEFT JOIN (SELECT DISTINCT topic, record FROM committed_input) c
       ON c.topic = e.topic AND c.record = e.record
WHERE c.record IS NULL
""",
)

"""phantom-output: an effect of a record that was neither sent nor in the input's log.

It was made up between the input and the sink. An unsent record in the input is a phantom, and the
pipeline that processes it is not at fault. Effects with an unreadable identity (NULL) fail a
control instead.
"""

from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop

ANOMALY = Anomaly(
    name="phantom-output",
    hop=Hop.PROCESS,
    evidence=Evidence.PRESENCE,
    definition="The sink has an effect of a record that was never sent.",
    example="the ledger has a row of x; x was never sent and is not in input",
    source="Jepsen's phantom, applied to the output of a pipeline",
    key=("sink", "view", "record", "effect_key"),
    sentence="{sink} has an effect of {record} ({position}), which was never sent",
    hint="The sink was not empty before the run, or the pipeline changes the identity of records.",
    headline=Headline(
        rank=4,
        one="{n} record in {sink} was never sent",
        many="{n} records in {sink} were never sent",
    ),
    refutes=("at-most-once", "at-least-once", "exactly-once"),
    minimal={
        "sends": ({"attempt": "a/1", "record": "a", "offset": 6},),
        "log": ({"attempt": "a/1", "record": "a", "offset": 6},),
        "effects": (
            {"record": "a", "position": "row 1"},
            {"record": "x", "position": "row 2"},
        ),
    },
    sql="""
SELECT e.trial, e.sink, e.view, e.record, e.effect_key, e.position, e.ordinal, e.digest, e.owner,
       e.batch
FROM observed_effects e
JOIN outputs k ON k.trial = e.trial
LEFT JOIN send_counts n ON n.topic = e.topic
LEFT JOIN sent_records s ON s.record = e.record
LEFT JOIN (SELECT DISTINCT topic, record FROM input_entries) i
       ON i.topic = e.topic AND i.record = e.record
WHERE s.record IS NULL AND i.record IS NULL AND (n.sends IS NOT NULL OR k.complete)
""",
)

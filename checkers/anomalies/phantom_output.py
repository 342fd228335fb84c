"""phantom-output: an effect of a record that nobody sent.

Neither was a send ever called nor does the input's log hold it: it was made up between the input
and the sink. A record that nobody sent but that stands in the input is a phantom there; the
pipeline that processes it is not to blame. Effects whose identity could not be read (NULL) are a
failed control, not phantoms.

    sends: record a       effects: row 1 of a, row 2 of x
    → phantom-output of x

Source: ANOMALIES.md; Jepsen's phantom, behind a pipeline.
"""

from __future__ import annotations

from typing import Final

from checkers.model import Anomaly, Evidence, Hop

ANOMALY: Final = Anomaly(
    name="phantom-output",
    hop=Hop.PROCESS,
    evidence=Evidence.PRESENCE,
    definition="An effect of a record that nobody sent.",
    example="the ledger has a row of x; x was never sent and is not in input",
    source="Jepsen's phantom, seen behind a pipeline",
    key=("sink", "view", "record", "effect_key"),
    sentence="{sink} has an effect of {record} ({position}), which nobody sent",
    sql="""
SELECT k.sink, k.view, e.record, e.effect_key, e.position, e.ordinal, e.digest, e.owner, e.batch
FROM observed_effects e
CROSS JOIN hop_sink k
CROSS JOIN hop_input h
CROSS JOIN (SELECT count(*) AS n FROM attempts) sent
LEFT JOIN sent_records s ON s.record = e.record
LEFT JOIN (SELECT DISTINCT record FROM input_entries) i ON i.record = e.record
WHERE s.record IS NULL AND i.record IS NULL AND (sent.n > 0 OR h.complete)
""",
)

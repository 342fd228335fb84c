"""wrong-output: the effect's content is not what the transformation yields.

Also an effect key that the transformation does not yield for a record with committed positions.
Where the input itself is corrupt, or is a record that nobody sent, the pipeline is not to blame.

    expected: a, digest d1       effects: row 1 of a, digest d2
    → wrong-output of a

Source: ANOMALIES.md; a pipeline that is not deterministic shows itself here.
"""

from __future__ import annotations

from typing import Final

from checkers.model import Anomaly, Evidence, Hop

ANOMALY: Final = Anomaly(
    name="wrong-output",
    hop=Hop.PROCESS,
    evidence=Evidence.PRESENCE,
    definition="The effect's content is not what the transformation yields.",
    example="the row of a must have digest d1 and has d2",
    source="ANOMALIES.md",
    key=("sink", "view", "record", "effect_key"),
    sentence="{record} has an effect in {sink} ({position}) that the transformation does not yield",
    sql="""
SELECT k.sink, k.view, e.record, e.effect_key, e.position, e.ordinal, e.digest,
       y.digest AS expected_digest, e.source_partition AS "partition",
       e.source_offset AS "offset", e.owner, e.batch
FROM observed_effects e
CROSS JOIN hop_sink k
CROSS JOIN (SELECT count(*) AS n FROM attempts) sent
JOIN (SELECT DISTINCT record FROM committed_input) c ON c.record = e.record
LEFT JOIN sent_records s ON s.record = e.record
LEFT JOIN (SELECT DISTINCT record FROM corrupt_entries) d ON d.record = e.record
JOIN (SELECT DISTINCT sink FROM expected) stated ON stated.sink = k.sink
LEFT JOIN (
    SELECT sink, record, effect_key, min(digest) AS digest
    FROM expected
    GROUP BY sink, record, effect_key
) y ON y.sink = k.sink AND y.record = e.record AND y.effect_key = e.effect_key
LEFT JOIN (SELECT DISTINCT sink, record, effect_key, digest FROM expected) x
     ON x.sink = k.sink AND x.record = e.record AND x.effect_key = e.effect_key
    AND x.digest = e.digest
WHERE x.record IS NULL AND d.record IS NULL AND (s.record IS NOT NULL OR sent.n = 0)
""",
)

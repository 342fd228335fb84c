"""offset-ahead: a resume position lies beyond an input whose effect is missing.

The next life starts there, so the effect will never come. Only the newest done resume position
counts: planned ones are about to be processed, advisory ones are where nobody starts. Inputs below
the start of the log or in compacted partitions are undecided.

    log: input-0@6 a       positions: resume, done, input-0 at 7       effects: none
    → offset-ahead of input-0

Source: Kafka's own definition of at-most-once: commit, then process.
"""

from __future__ import annotations

from typing import Final

from checkers.model import Anomaly, Evidence, Hop

ANOMALY: Final = Anomaly(
    name="offset-ahead",
    hop=Hop.PROCESS,
    evidence=Evidence.ABSENCE,
    definition=(
        "A *resume* position lies beyond an input whose effect is missing: lost at the next start."
    ),
    example="the group's position in input-0 is 7; a at input-0@6 has no effect",
    source="commit, then process: Kafka's at-most-once",
    key=("sink", "view", "owner", "topic", "partition"),
    sentence=(
        "{owner} resumes {topic}-{partition} at {position}, beyond {record} at {offset}, "
        "whose effect is missing"
    ),
    sql="""
SELECT k.sink, k.view, m.owner, m.topic, m."partition", m.position, m.batch, m.record,
       m.effect_key, m."offset"
FROM (
    SELECT n.owner, n.topic, n."partition", n."offset" AS position, n.batch, s.record,
           s.effect_key, c."offset", s.seen,
           CASE WHEN j.deduplicates THEN y.n
                ELSE sum(y.n) OVER (
                    PARTITION BY n.owner, s.record, s.effect_key, s.in_partition, s.in_offset)
           END AS due_below
    FROM shortages s
    CROSS JOIN judging_mode j
    JOIN yields y ON y.record = s.record AND y.effect_key = s.effect_key
    JOIN committed_input c ON c.record = s.record AND c.decidable
         AND (s.in_offset < 0 OR (s.in_partition = c."partition" AND s.in_offset = c."offset"))
    JOIN newest_positions n ON n."partition" = c."partition" AND c."offset" < n."offset"
    WHERE n.role = 'resume'
) m
CROSS JOIN hop_sink k
WHERE m.due_below > m.seen
""",
)

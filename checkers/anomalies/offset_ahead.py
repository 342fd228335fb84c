"""offset-ahead: a resume position is beyond an input whose effect is missing.

The next start resumes there, so the effect will never be made. Only the newest done resume position
counts: planned positions are not yet processed, and nothing resumes at advisory ones. Inputs below
the log start offset or in compacted partitions are undecided.
"""

from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop
from onceproof.checkers.mutations import changes, journal_changes
from onceproof.checkers.mutations import effect_targets as places
from onceproof.checkers.mutations.mutator import Mutator

ANOMALY = Anomaly(
    name="offset-ahead",
    hop=Hop.PROCESS,
    evidence=Evidence.ABSENCE,
    definition=(
        "A *resume* position is beyond an input whose effect is missing, so the next start skips "
        "that input."
    ),
    example="the group's position in input-0 is 7; a at input-0@6 has no effect",
    source="commit, then process: Kafka's at-most-once",
    key=("sink", "view", "owner", "topic", "partition"),
    sentence=(
        "{owner} resumes {topic}-{partition} at {position}, beyond {record} at {offset}, whose "
        "effect is missing"
    ),
    hint=(
        "The offset is committed before processing: auto-commit, or a commit in another thread "
        "than the processing."
    ),
    headline=Headline(
        rank=17,
        one="{n} stored position is beyond an input whose effect is missing",
        many="{n} stored positions are beyond inputs whose effects are missing",
    ),
    refutes=("at-least-once", "exactly-once"),
    implies=("lost-output",),
    minimal={
        "sends": ({"attempt": "a/1", "record": "a", "offset": 6},),
        "log": ({"attempt": "a/1", "record": "a", "offset": 6},),
        "positions": ({"role": "resume", "offset": 7},),
        "phases": (
            {"phase": "settle", "outcome": "ok"},
            {"phase": "collect", "outcome": "ok"},
        ),
    },
    sql="""
SELECT k.trial, k.sink, k.view, m.owner, m.topic, m."partition", m.position, m.batch, m.record,
       m.effect_key, m."offset"
FROM (
    SELECT n.trial, n.owner, n.topic, n."partition", n."offset" AS position, n.batch, s.record,
           s.effect_key, c."offset", s.seen, y.n_due * COALESCE(d.seen, 0) AS excused,
           sum(y.n_due) OVER (PARTITION BY n.trial, n.owner, s.record, s.effect_key) AS due_below
    FROM shortages s
    JOIN yields y ON y.trial = s.trial AND y.record = s.record AND y.effect_key = s.effect_key
    JOIN newest_positions n ON n.trial = s.trial
    JOIN committed_input c ON c.topic = n.topic AND c.record = s.record AND c.decidable
         AND c.lateness IS NULL
         AND (s.in_offset < 0 OR (s.in_partition = c."partition" AND s.in_offset = c."offset"))
         AND n."partition" = c."partition" AND c."offset" < n."offset"
    LEFT JOIN seen_effects d ON d.dead AND d.trial = s.trial AND d.record = s.record
         AND d.in_partition = s.in_partition AND d.in_offset = s.in_offset
    WHERE n.role = 'resume'
) m
JOIN outputs k ON k.trial = m.trial
WHERE m.due_below - m.excused > m.seen
""",
    mutations=(
        Mutator(
            name="effect dropped before a resume position",
            table="effects",
            key=("sink", "view", "owner", "topic", "partition"),
            kind="effects",
            change=changes.drop_effects,
            needs=f"""
SELECT n.trial
FROM newest_positions n
JOIN ({places.EFFECTS}) r ON r.trial = n.trial
WHERE n.role = 'resume' AND n."offset" > 0""",
            targets=places.delivered_before_resume(),
        ),
        Mutator(
            name="change dropped before a resume position",
            table="journal",
            key=("sink", "view", "owner", "topic", "partition"),
            kind="effects",
            change=journal_changes.drop_changes,
            needs=f"""
SELECT n.trial
FROM newest_positions n
JOIN ({places.JOURNALS}) r ON r.trial = n.trial
WHERE n.role = 'resume' AND n."offset" > 0""",
            targets=places.delivered_before_resume(places.ONLY_THERE, "AND also.record IS NULL"),
        ),
    ),
)

"""skipped-read: a reader passes over a committed record without an assignment change.

An entry that the reader should have got lies between the furthest offset that its session had read
(or where its assignment began) and the next read. Gaps between offsets alone prove nothing: markers
and aborted records leave them.
"""

from onceproof.checkers.model import Anomaly, Evidence, Hop
from onceproof.checkers.mutations import changes
from onceproof.checkers.mutations.mutator import Mutator

ANOMALY = Anomaly(
    name="skipped-read",
    hop=Hop.PRODUCE,
    evidence=Evidence.PRESENCE,
    definition="A reader skips a committed record without an assignment change.",
    example="the log has a at 6, b at 7 and c at 8; one session read a and then c",
    source="Jepsen, Kafka workload: poll-skip",
    key=("topic", "partition", "reader", "session", "offset"),
    sentence=(
        "{reader} read {topic}-{partition}@{read_offset} after {reached} and skipped {record} at "
        "{offset}"
    ),
    hint="The fetch position was moved by hand, or by a rebalance that the reader did not notice.",
    refutes=("ordered",),
    implies=("repeated-read", "unseen"),
    minimal={
        "sends": (
            {"attempt": "a/1", "record": "a", "offset": 6},
            {"attempt": "b/1", "record": "b", "offset": 7},
            {"attempt": "c/1", "record": "c", "offset": 8},
        ),
        "log": (
            {"attempt": "a/1", "record": "a", "offset": 6},
            {"attempt": "b/1", "record": "b", "offset": 7},
            {"attempt": "c/1", "record": "c", "offset": 8},
        ),
        "reads": (
            {"attempt": "a/1", "record": "a", "offset": 6},
            {"attempt": "c/1", "record": "c", "offset": 8},
        ),
    },
    sql="""
SELECT p.trial, p.topic, p."partition", p.reader, p.session, l."offset", l.record, p.reached,
       p."offset" AS read_offset, p.ordinal
FROM (
    SELECT q.trial, q.topic, q."partition", q.reader, q.session, q.ordinal, q.isolation, q.reached,
           q."offset",
           UNNEST(generate_series(f.entries + 1, t.entries - t.entry)) AS number
    FROM read_progress q
    JOIN log_places f ON f.topic = q.topic AND f."partition" = q."partition"
                     AND f."offset" = q.reached
    JOIN log_places t ON t.topic = q.topic AND t."partition" = q."partition"
                     AND t."offset" = q."offset"
    WHERE t.entries - t.entry > f.entries
) p
JOIN log_places e ON e.topic = p.topic AND e."partition" = p."partition" AND e.entries = p.number
JOIN log l ON l.topic = e.topic AND l."partition" = e."partition" AND l."offset" = e."offset"
WHERE e.entry = 1 AND l.kind = 'data' AND (l.committed OR p.isolation = 'read_uncommitted')
""",
    mutations=(
        Mutator(
            name="read dropped",
            table="reads",
            key=("topic", "partition", "reader", "session", "offset"),
            kind="skip",
            change=changes.drop_read,
            needs="""
SELECT p.trial
FROM read_progress p
JOIN committed_log c ON c.topic = p.topic AND c."partition" = p."partition"
                    AND c."offset" = p."offset"
GROUP BY p.trial, p.reader, p.session, p."partition"
HAVING count(*) > 2""",
            targets="""
SELECT p.trial, p.topic, p."partition", p.reader, p.session, p."offset", p.ordinal, p.record
FROM read_progress p
JOIN committed_log c ON c.topic = p.topic AND c."partition" = p."partition"
                    AND c."offset" = p."offset"
JOIN (
    SELECT reader, session, topic, "partition", min("offset") AS first, max("offset") AS last
    FROM read_progress
    GROUP BY reader, session, topic, "partition"
    HAVING count(*) = count(DISTINCT "offset")
) e ON e.reader = p.reader AND e.session = p.session AND e.topic = p.topic
   AND e."partition" = p."partition" AND p."offset" > e.first AND p."offset" < e.last
WHERE p.record IS NOT NULL AND p.reached < p."offset\"""",
        ),
    ),
)

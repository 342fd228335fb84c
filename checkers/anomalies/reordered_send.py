"""reordered-send: two sends of one session to one partition are in the log in reverse order.

This compares the first entry of each send, so a later duplicate is not a reordering.
"""

from onceproof.checkers.model import Anomaly, Evidence, Headline, Hop
from onceproof.checkers.mutations import changes
from onceproof.checkers.mutations.mutator import Mutator

ANOMALY = Anomaly(
    name="reordered-send",
    hop=Hop.PRODUCE,
    evidence=Evidence.PRESENCE,
    definition="Two sends of one session to one partition are in the log in reverse order.",
    example="a was sent before b; the log has b at 6 and a at 7",
    source="Jepsen, Kafka workload: nonmonotonic-send; KIP-98",
    key=("topic", "partition", "session", "attempt"),
    sentence=(
        "{attempt} is in {topic}-{partition} at {offset}, before {after_attempt} at "
        "{after_offset}, which the same session sent earlier"
    ),
    hint=(
        "Several requests in flight without idempotence: the first failed and was sent again "
        "after the second."
    ),
    headline=Headline(
        rank=15,
        one="{n} pair of records is in {input} in the wrong order",
        many="{n} pairs of records are in {input} in the wrong order",
    ),
    refutes=("idempotent", "ordered"),
    # Reordered entries have reordered effects.
    implies=("inconsistent-offsets", "reordered-output"),
    minimal={
        "sends": (
            {"attempt": "a/1", "record": "a", "offset": 7},
            {"attempt": "b/1", "record": "b", "offset": 6},
        ),
        "log": (
            {"attempt": "b/1", "record": "b", "offset": 6},
            {"attempt": "a/1", "record": "a", "offset": 7},
        ),
    },
    sql="""
SELECT s.trial, s.topic, s."partition", s.session, s.attempt, s.record, s.ordinal, s."offset",
       e.attempt AS after_attempt, p.furthest AS after_offset
FROM (
    SELECT s.trial, s."partition", s.attempt, s."offset", max(s."offset") OVER (
               PARTITION BY s.trial, s."partition", s.session
               ORDER BY s.ordinal, s.attempt
           ) AS furthest
    FROM send_places s
) p
JOIN send_places s ON s.trial = p.trial AND s."partition" = p."partition"
                  AND s.attempt = p.attempt
JOIN send_places e ON e.trial = p.trial AND e."partition" = p."partition"
                  AND e."offset" = p.furthest
WHERE p."offset" < p.furthest
""",
    mutations=(
        Mutator(
            name="log entries swapped",
            table="log",
            key=("topic", "partition", "session", "attempt"),
            kind="order",
            change=changes.swap_entries,
            needs="""
SELECT p.trial
FROM send_places p
GROUP BY p.trial, p."partition", p.session
HAVING count(*) > 1""",
            targets="""
SELECT p.trial, p.topic, p."partition", p.session, p.attempt, p.record, p."offset",
       p.after_offset
FROM (
    SELECT s.*, max(s."offset") OVER (
               PARTITION BY s.trial, s."partition", s.session
               ORDER BY s.ordinal, s.attempt ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
           ) AS after_offset
    FROM send_places s
) p
JOIN (
    SELECT s.trial, s.attempt
    FROM send_places s
    JOIN committed_input c ON c.trial = s.trial AND c.record = s.record
    GROUP BY s.trial, s.attempt
    HAVING count(*) = 1
) o ON o.trial = p.trial AND o.attempt = p.attempt
LEFT JOIN contested_places x ON x.h = hash(p.topic, p."partition", p.after_offset)
WHERE p."offset" > p.after_offset AND x.h IS NULL""",
        ),
    ),
)

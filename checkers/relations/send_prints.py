"""Hashes of sends and log entries; if a pair has the same hash, the send is in order.

A send is in order if it was acknowledged, outside a transaction or in a committed one, and the log
has one committed entry with its record, attempt, key, digest, partition and offset. The 64-bit hash
covers these, except what the log never carries. Only the weights of one send and one entry add up
to 2000003: three of anything are more.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="send_prints",
    meaning="hashes of sends and log entries, with weights",
    stored=False,
    sql="""
SELECT hash(s.record) AS h,
       hash(i.trial, hash(s.record), CASE WHEN t.attempts > 0 THEN s.attempt END,
            CASE WHEN t.keys > 0 THEN s.key END, CASE WHEN t.digests > 0 THEN s.digest END,
            s."partition", s."offset") AS print,
       CASE WHEN s.outcome = 'ok' AND (s.txn IS NULL OR x.outcome = 'committed')
            THEN CAST(1000001 AS DOUBLE) ELSE CAST(1500000 AS DOUBLE) END AS weight
FROM sends s
JOIN inputs i ON i.topic = s.topic
LEFT JOIN log_traits t ON t.trial = i.trial
LEFT JOIN txns x ON x.txn = s.txn
UNION ALL
SELECT hash(l.record) AS h,
       hash(i.trial, hash(l.record), l.attempt, l.key, l.digest,
            l."partition", l."offset") AS print,
       CASE WHEN l.committed THEN CAST(1000002 AS DOUBLE) ELSE CAST(1500000 AS DOUBLE) END AS weight
FROM log l
JOIN inputs i ON i.topic = l.topic
WHERE l.kind = 'data' AND l.record IS NOT NULL
""",
)

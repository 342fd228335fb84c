"""Entries and reads that may belong to a transaction, without an attempt id that names its send.

Committed entries of topics that committed transactions sent to (`reader` is NULL), and reads by
committed transactions. An attempt id must name a send of this record to this topic.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="txn_nameless",
    meaning="committed entries and reads of transactions whose attempt names no send",
    sql="""
SELECT l.topic, l."partition", l."offset", l.record, CAST(NULL AS VARCHAR) AS reader,
       CAST(NULL AS BIGINT) AS reader_place
FROM log l
JOIN (
    SELECT DISTINCT s.topic
    FROM sends s
    JOIN txn_committed c ON c.txn = s.txn
) k ON k.topic = l.topic
LEFT JOIN sends n ON n.attempt = l.attempt AND n.record = l.record AND n.topic = l.topic
WHERE l.kind = 'data' AND l.committed AND n.attempt IS NULL
UNION ALL
SELECT r.topic, r."partition", r."offset", r.record, r.txn AS reader, c.place AS reader_place
FROM reads r
JOIN txn_committed c ON c.txn = r.txn
LEFT JOIN sends n ON n.attempt = r.attempt AND n.record = r.record AND n.topic = r.topic
WHERE r.isolation = 'read_committed' AND n.attempt IS NULL
""",
)

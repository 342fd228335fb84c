"""Contributions at the committed entries of their records.

`counts` marks those that count: all entries, or one per record where the subject claims to drop
repeated sends. `unit` is what can be ordered: an entry, or there the record, since the subject may
have taken any of its entries.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="contributed",
    meaning="contributions at committed positions",
    sql="""
SELECT k.trial, c.topic, c."partition", c."offset", c.record, x.state_key, x.aggregate,
       x.operation, x.amount, x.digest,
       NOT k.deduplicates OR c.place = 1 AS counts,
       CASE WHEN k.deduplicates THEN c.record
            ELSE CAST(c."partition" AS VARCHAR) || '@' || CAST(c."offset" AS VARCHAR) END AS unit
FROM (
    SELECT l.topic, l."partition", l."offset", l.record,
           row_number() OVER (
               PARTITION BY l.topic, l.record ORDER BY l."partition", l."offset"
           ) AS place
    FROM committed_log l
) c
JOIN outputs k ON k.topic = c.topic
JOIN by_state b ON b.trial = k.trial
JOIN contributions x ON x.sink = k.sink AND x.record = c.record
""",
)

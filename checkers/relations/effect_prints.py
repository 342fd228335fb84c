"""Hashes of entries and effects; if a pair has the same hash, one led to the other.

If every effect names its input offset, the hash includes the offset. Otherwise one entry and one
effect of a record are a pair, unless the effect names an offset. Uncommitted entries are odd in
`send_prints` already, which also explains the weights.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="effect_prints",
    meaning="hashes of entries and effects, with weights",
    stored=False,
    sql="""
SELECT hash(l.record) AS h,
       hash(k.trial, hash(l.record),
            CASE WHEN t.effects = t.sourced THEN l."partition" END,
            CASE WHEN t.effects = t.sourced THEN l."offset" END) AS print,
       CAST(1000001 AS DOUBLE) AS weight
FROM log l
JOIN outputs k ON k.topic = l.topic
LEFT JOIN sink_traits t ON t.trial = k.trial
WHERE l.kind = 'data' AND l.record IS NOT NULL
UNION ALL
SELECT hash(e.record) AS h,
       hash(e.trial, hash(e.record), e.source_partition, e.source_offset) AS print,
       CASE WHEN s.trial IS NOT NULL OR e.effect_key = ''
            THEN CAST(1000002 AS DOUBLE) ELSE CAST(1500000 AS DOUBLE) END AS weight
FROM sink_effects e
LEFT JOIN stated s ON s.trial = e.trial
""",
)

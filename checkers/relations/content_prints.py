"""Hashes of seen and of expected effects; if a pair has the same hash, the content is right.

Only for sinks with rows in `expected`. `send_prints` explains the weights.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="content_prints",
    meaning="hashes of expected and seen effects, with weights",
    stored=False,
    sql="""
SELECT hash(x.record) AS h, hash(k.trial, hash(x.record), x.effect_key, x.digest) AS print,
       CAST(1000001 AS DOUBLE) AS weight
FROM expected x
JOIN outputs k ON k.sink = x.sink
JOIN stated s ON s.trial = k.trial
UNION ALL
SELECT hash(e.record) AS h, hash(e.trial, hash(e.record), e.effect_key, e.digest) AS print,
       CAST(1000002 AS DOUBLE) AS weight
FROM sink_effects e
JOIN stated s ON s.trial = e.trial
""",
)

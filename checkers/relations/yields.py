"""The effects that one committed entry of a record must have in the sink, from `expected`.

At least `n_due` and at most `n`; they differ where effects are optional. Without rows for a sink,
the transformation is taken to be one to one with unknown content. Sinks that are judged by their
state are left out.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="yields",
    meaning="effects that one committed position of a record must have, by effect key",
    sql="""
SELECT x.trial, x.record, x.effect_key, count(*) AS n,
       count(CASE WHEN x.optional THEN NULL ELSE x.digest END) AS n_due
FROM expected_in_question x
GROUP BY x.trial, x.record, x.effect_key
UNION ALL
SELECT r.trial, r.record, '' AS effect_key, 1 AS n, 1 AS n_due
FROM (
    SELECT k.trial, c.record
    FROM committed_input c
    JOIN outputs k ON k.topic = c.topic
    UNION
    SELECT e.trial, e.record
    FROM observed_effects e
) r
LEFT JOIN stated s ON s.trial = r.trial
LEFT JOIN by_state b ON b.trial = r.trial
WHERE s.trial IS NULL AND b.trial IS NULL
""",
)

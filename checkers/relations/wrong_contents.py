"""Contents that appear more often under an effect key than the transformation yields them.

Several contents of one key are compared as a multiset: two of one and none of the other are wrong.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="wrong_contents",
    meaning="digests seen more often than expected in slots that do not have too many effects",
    sql="""
SELECT s.trial, s.record, s.effect_key, s.digest, s.in_partition, s.in_offset
FROM (
    SELECT e.trial, e.record, e.effect_key, e.digest,
           CASE WHEN m.by_position THEN e.source_partition ELSE -1 END AS in_partition,
           CASE WHEN m.by_position THEN e.source_offset ELSE -1 END AS in_offset,
           count(*) AS seen
    FROM observed_effects e
    JOIN judging_mode m ON m.trial = e.trial
    GROUP BY e.trial, e.record, e.effect_key, e.digest,
             CASE WHEN m.by_position THEN e.source_partition ELSE -1 END,
             CASE WHEN m.by_position THEN e.source_offset ELSE -1 END
) s
JOIN (
    SELECT trial, record, effect_key, digest, count(*) AS n
    FROM expected_in_question
    GROUP BY trial, record, effect_key, digest
) x ON x.trial = s.trial AND x.record = s.record AND x.effect_key = s.effect_key
   AND x.digest = s.digest
JOIN balance b ON b.trial = s.trial AND b.record = s.record AND b.effect_key = s.effect_key
              AND b.in_partition = s.in_partition AND b.in_offset = s.in_offset
WHERE b.final AND b.seen <= b.expected AND s.seen > x.n * b.positions
""",
)

"""Numbers of effects seen, in the same groups as the entries that they come from."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="seen_effects",
    meaning=(
        "how many effects were seen, by record, effect key and (if judged per position) position"
    ),
    sql="""
SELECT e.trial, e.record, e.effect_key, e.dead,
       CASE WHEN m.by_position THEN e.source_partition ELSE -1 END AS in_partition,
       CASE WHEN m.by_position THEN e.source_offset ELSE -1 END AS in_offset,
       count(*) AS seen
FROM observed_effects e
JOIN judging_mode m ON m.trial = e.trial
GROUP BY e.trial, e.record, e.effect_key, e.dead,
         CASE WHEN m.by_position THEN e.source_partition ELSE -1 END,
         CASE WHEN m.by_position THEN e.source_offset ELSE -1 END
""",
)

"""All effects that readers of a view of the sink see and that may come from the input.

Effects of other inputs name another source topic. In the view `journal` every append is an effect,
an upsert with unchanged content is none, and a delete revokes nothing. A dead letter is an effect
of its own kind.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="sink_effects",
    meaning="effects, changes and dead letters in the judged views",
    stored=False,
    sql="""
SELECT k.trial, e.record, e.effect_key, e.digest, e.position, e.ordinal, e.owner, e.batch,
       CASE WHEN e.source_topic IS NOT NULL AND e.source_offset IS NOT NULL
            THEN e.source_partition END AS source_partition,
       CASE WHEN e.source_topic IS NOT NULL AND e.source_partition IS NOT NULL
            THEN e.source_offset END AS source_offset,
       e.source_topic IS NOT NULL AS names_topic, FALSE AS dead
FROM effects e
JOIN outputs k ON k.sink = e.sink AND k.view = e.view
WHERE e.record IS NOT NULL AND (e.source_topic IS NULL OR e.source_topic = k.topic)
UNION ALL
SELECT k.trial, e.record, '~dead-letter' AS effect_key, e.digest, e.position, e.ordinal, e.owner,
       e.batch,
       CASE WHEN e.source_topic IS NOT NULL AND e.source_offset IS NOT NULL
            THEN e.source_partition END AS source_partition,
       CASE WHEN e.source_topic IS NOT NULL AND e.source_partition IS NOT NULL
            THEN e.source_offset END AS source_offset,
       e.source_topic IS NOT NULL AS names_topic, TRUE AS dead
FROM effects e
JOIN outputs k ON k.dead_letters = e.sink AND k.view = e.view
WHERE e.record IS NOT NULL AND (e.source_topic IS NULL OR e.source_topic = k.topic)
UNION ALL
SELECT j.trial, j.record, j.effect_key, j.digest, j.position, j.ordinal, j.owner, j.batch,
       j.source_partition, j.source_offset, j.names_topic, j.dead
FROM seen_changes j
""",
)

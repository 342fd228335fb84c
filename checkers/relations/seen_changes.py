"""Changes of a sink that its readers could see, for trials of the view `journal`.

An upsert with the same content from the same input changes nothing visible, so equal upserts count
once, unless a delete came between them. A delete in the same transaction is invisible. A row
without digest counts by itself, because its content is unknown.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="seen_changes",
    meaning="changes in the journal, as effects",
    sql="""
SELECT k.trial, j.record,
       CASE WHEN j.sink = k.sink THEN j.effect_key ELSE '~dead-letter' END AS effect_key,
       j.digest, 'journal ' || min(j.ordinal) AS position, min(j.ordinal) AS ordinal,
       min(j.owner) AS owner, min(j.batch) AS batch,
       CASE WHEN j.source_topic IS NOT NULL AND j.source_offset IS NOT NULL
            THEN j.source_partition END AS source_partition,
       CASE WHEN j.source_topic IS NOT NULL AND j.source_partition IS NOT NULL
            THEN j.source_offset END AS source_offset,
       j.source_topic IS NOT NULL AS names_topic, j.sink <> k.sink AS dead
FROM journal j
LEFT JOIN (
    SELECT j.sink, j.ordinal, max(d.ordinal) AS deleted
    FROM journal j
    JOIN journal d ON d.sink = j.sink AND d.record = j.record AND d.effect_key = j.effect_key
     AND d.ordinal < j.ordinal AND COALESCE(d."transaction" <> j."transaction", TRUE)
    WHERE d.operation = 'delete'
    GROUP BY j.sink, j.ordinal
) d ON d.sink = j.sink AND d.ordinal = j.ordinal
JOIN outputs k ON k.view = 'journal' AND (k.sink = j.sink OR k.dead_letters = j.sink)
WHERE j.record IS NOT NULL AND j.operation <> 'delete'
  AND (j.source_topic IS NULL OR j.source_topic = k.topic)
GROUP BY k.trial, k.sink, j.sink, j.record, j.effect_key, j.digest, j.source_topic,
         j.source_partition, j.source_offset, d.deleted,
         CASE WHEN j.operation = 'append' OR j.digest IS NULL THEN j.ordinal END
""",
)

"""Effects with their committed input offset: the one they name, else their record's only one."""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="effect_inputs",
    meaning="effects with the committed input position that they come from",
    sql="""
SELECT e.trial, e.record, e.effect_key, e.position, e.ordinal, e.owner, e.batch,
       c."partition" AS in_partition, c."offset" AS in_offset
FROM observed_effects e
LEFT JOIN lone_positions o ON o.topic = e.topic AND o.record = e.record
                          AND e.source_offset IS NULL
JOIN committed_input c ON c.topic = e.topic AND c.record = e.record
     AND c."partition" = COALESCE(e.source_partition, o."partition")
     AND c."offset" = COALESCE(e.source_offset, o."offset")
""",
)

"""The first place of each input entry's effects in the sink, of all records and not only suspects.

Dead letters have no order, and are kept apart.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="effect_places",
    meaning="the first place in the sink of the effects of each keyed input position",
    sql="""
SELECT w.trial, w.key, w."partition", w."offset", min(w.record) AS record,
       min(w.ordinal) AS first_ordinal
FROM (
    SELECT e.trial, c.key, c."partition", c."offset", c.record, e.ordinal
    FROM sink_effects e
    JOIN outputs k ON k.trial = e.trial
    JOIN committed_log c ON c.topic = k.topic AND c.record = e.record
         AND c."partition" = e.source_partition AND c."offset" = e.source_offset
    WHERE NOT e.dead AND c.key IS NOT NULL
    UNION ALL
    SELECT e.trial, c.key, c."partition", c."offset", c.record, e.ordinal
    FROM sink_effects e
    JOIN outputs k ON k.trial = e.trial
    JOIN lone_positions c ON c.topic = k.topic AND c.record = e.record
    WHERE NOT e.dead AND e.source_offset IS NULL AND c.key IS NOT NULL
) w
GROUP BY w.trial, w.key, w."partition", w."offset"
""",
)

"""Committed entries that are judged together: a single one, or all of a record.

`in_partition` and `in_offset` are the entry's if effects are judged per offset, and -1 if per
record. A send that its producer duplicated is one input that may have its effects twice and needs
them once: `positions` counts both entries, `sends` and `due` one. `sends` and `due` omit entries
that may be dropped as late by design; `due` also omits those that may have been unreadable or late.

`final` says that no more entries can turn up, even if the log was not read to its end. That holds

* if entries are judged one by one, or sending twice makes no difference; or
* if nothing was deleted from the log, and either everything was settled and collected or the
  record's attempts had all ended before.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="input_groups",
    meaning="committed positions as effects are judged by them",
    sql="""
SELECT k.trial, c.record,
       CASE WHEN m.by_position THEN c."partition" ELSE -1 END AS in_partition,
       CASE WHEN m.by_position THEN c."offset" ELSE -1 END AS in_offset,
       CASE WHEN m.deduplicates THEN 1 ELSE count(*) END AS positions,
       CASE WHEN m.deduplicates THEN max(CASE WHEN c.owes THEN 1 ELSE 0 END)
            ELSE count(DISTINCT CASE WHEN c.owes THEN c.attempt END)
                 + count(CASE WHEN c.owes AND c.attempt IS NULL THEN c.record END) END AS sends,
       CASE WHEN m.deduplicates THEN max(CASE WHEN c.surely THEN 1 ELSE 0 END)
            ELSE count(DISTINCT CASE WHEN c.surely THEN c.attempt END)
                 + count(CASE WHEN c.surely AND c.attempt IS NULL THEN c.record END) END AS due,
       min(CASE WHEN m.by_position OR m.deduplicates
                     OR (cut.topic IS NULL
                         AND (k.complete OR r.record IS NOT NULL))
                THEN 1 ELSE 0 END) = 1 AS final
FROM (
    SELECT i.*, COALESCE(i.lateness <> 'late', TRUE) AS owes,
           i.decidable AND i.lateness IS NULL AS surely
    FROM committed_input i
) c
JOIN outputs k ON k.topic = c.topic
JOIN judging_mode m ON m.trial = k.trial
LEFT JOIN cut_topics cut ON cut.topic = c.topic
LEFT JOIN closed_records r ON r.trial = c.trial AND r.record = c.record
GROUP BY k.trial, m.deduplicates, c.record,
         CASE WHEN m.by_position THEN c."partition" ELSE -1 END,
         CASE WHEN m.by_position THEN c."offset" ELSE -1 END
""",
)

"""Committed positions that are judged together: one, or all of a record.

`in_partition` and `in_offset` are the input's position where effects are judged per position, and
-1 where per record. A send that appears twice, because its producer made a copy, is one input that
may have its effects twice and needs them once: `positions` counts both, `sends` and `due` the one.
`due` leaves out positions of which nobody knows whether they could be read, or whether they were
dropped as late; both leave out those that may be dropped as late, by design.

`final` says that no more positions can turn up. A log that was not read to its end may hold a
second position of the same record, so that holds

* where positions are judged one by one, or sending twice makes no difference; or
* when everything was settled and collected, or the record's attempts were all over before; and
  nothing of the log was deleted.
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

"""Where there are more effects than expected, as far as this history can prove it.

More effects than expected prove a duplicate only if the expectation cannot grow: a log that was
not read to its end may hold a second position of the same record. So a row of the balance counts

* where positions are judged one by one, or sending twice makes no difference; or
* when everything was settled and collected, or the record's attempts were all over before; and
  nothing of the log was deleted.

Beside that, effects that name the same position of the input prove themselves, unless the log says
that this position holds something else. `proven` tells the rows apart from those that stay
undecided.
"""

from __future__ import annotations

from typing import Final

from checkers.relations.base import Relation

RELATION: Final = Relation(
    name="surpluses",
    meaning="rows of the balance with more effects seen than expected, and whether that is proven",
    sql="""
SELECT b.record, b.effect_key, b.in_partition, b.in_offset, b.expected, b.seen, b.proven
FROM (
    SELECT b.*,
           m.by_position OR m.deduplicates
           OR (cut.partitions = 0
               AND (h.complete OR COALESCE(r.over_before_collection, FALSE))) AS proven
    FROM balance b
    CROSS JOIN judging_mode m
    CROSS JOIN hop_input h
    CROSS JOIN (SELECT count(*) AS partitions FROM cut_partitions) cut
    LEFT JOIN record_sends r ON r.record = b.record
    WHERE b.seen > b.expected AND b.expected > 0
) b
UNION ALL
SELECT p.record, p.effect_key, p.in_partition, p.in_offset, y.n AS expected, p.seen, TRUE AS proven
FROM (
    SELECT record, effect_key, source_partition AS in_partition, source_offset AS in_offset,
           count(*) AS seen
    FROM observed_effects
    WHERE source_offset IS NOT NULL
    GROUP BY record, effect_key, source_partition, source_offset
    HAVING count(*) > 1
) p
JOIN yields y ON y.record = p.record AND y.effect_key = p.effect_key
CROSS JOIN judging_mode m
CROSS JOIN hop_input h
LEFT JOIN log l ON l.topic = h.input AND l."partition" = p.in_partition
               AND l."offset" = p.in_offset
LEFT JOIN cut_partitions c ON c."partition" = p.in_partition
WHERE p.seen > y.n
  AND ((l.record = p.record AND l.committed AND NOT m.by_position)
       OR (l.topic IS NULL
           AND (NOT h.complete
                OR (c."partition" IS NOT NULL AND (c.compacted OR p.in_offset < c.log_start)))))
""",
)

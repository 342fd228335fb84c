"""Where there are more effects than expected, as far as this history can prove it.

A surplus proves a duplicate only if the expectation is final. Besides, effects that name the same
input offset are proof by themselves, unless the log has another record there. Rows without `proven`
are undecided.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="surpluses",
    meaning="rows of the balance with more effects seen than expected, and whether that is proven",
    sql="""
SELECT b.trial, b.record, b.effect_key, b.in_partition, b.in_offset, b.expected, b.seen,
       b.final AS proven
FROM balance b
WHERE b.seen > b.expected
UNION ALL
SELECT p.trial, p.record, p.effect_key, p.in_partition, p.in_offset, p.expected, p.seen,
       TRUE AS proven
FROM crowded_places p
JOIN judging_mode m ON m.trial = p.trial
JOIN outputs k ON k.trial = p.trial
LEFT JOIN log l ON l.topic = k.topic AND l."partition" = p.in_partition
               AND l."offset" = p.in_offset
LEFT JOIN cut_partitions c ON c.topic = k.topic AND c."partition" = p.in_partition
WHERE (l.record = p.record AND l.committed AND NOT m.by_position)
   OR (l.topic IS NULL
       AND (NOT k.complete
            OR c.compacted OR p.in_offset < c.log_start))
""",
)

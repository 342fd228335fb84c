"""Records with effects in one of two atomic outputs and none in the other; nearly always none.

An output for which `expected` says that a record yields nothing needs no effect; in an output
judged by its state the records are unknown. A dead letter is not an effect.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="torn_effects",
    meaning="records that are missing in one of two outputs, by their trials",
    sql="""
SELECT c.trial, c.present, c.missing, p.record, CAST(sum(p.seen) AS BIGINT) AS seen
FROM companions c
JOIN seen_effects p ON p.trial = c.present AND NOT p.dead
LEFT JOIN seen_effects m ON m.trial = c.missing AND m.record = p.record AND NOT m.dead
LEFT JOIN stated s ON s.trial = c.missing
LEFT JOIN by_state b ON b.trial = c.missing
LEFT JOIN (SELECT DISTINCT trial, record FROM yields) y
       ON y.trial = c.missing AND y.record = p.record
WHERE m.record IS NULL AND b.trial IS NULL AND (s.trial IS NULL OR y.record IS NOT NULL)
GROUP BY c.trial, c.present, c.missing, p.record
""",
)

"""Effective sends: every attempt to send to the input, and what it may have come to.

* `may`: it may have happened. `fail` certainly did not, nor did anything in an aborted transaction.
* `must`: it was acknowledged, outside a transaction or in one that is known to be committed.
* `gone`: its position may be one that was deleted since, so that its absence says nothing.
* `positions`: how many committed positions carry its id.
"""

from __future__ import annotations

from typing import Final

from checkers.relations.base import Relation

RELATION: Final = Relation(
    name="attempts",
    meaning="attempts to send to the input: may have happened, must have happened, where it stands",
    sql="""
SELECT s.attempt, s.record, s.session, s.txn, s.topic, s."partition", s."offset", s.outcome,
       s.outcome <> 'fail' AND COALESCE(t.outcome, 'info') <> 'aborted' AS may,
       s.outcome = 'ok'
           AND (s.txn IS NULL
                OR t.outcome = 'committed'
                OR (COALESCE(t.outcome, 'info') = 'info' AND p.txn IS NOT NULL)) AS must,
       CASE
           WHEN s.outcome = 'ok' AND s."partition" IS NOT NULL
           THEN c."partition" IS NOT NULL
                AND (c.compacted OR s."offset" IS NULL OR s."offset" < c.log_start)
           ELSE cut.partitions > 0
       END AS gone,
       s.outcome = 'ok' AND s.txn IS NULL AND h.collected
           AND COALESCE(s.returned_at <= h.collect_started AND s.clock = h.collect_clock, FALSE)
           AS over_before_collection,
       COALESCE(e.positions, 0) AS positions
FROM sends s
JOIN hop_input h ON h.input = s.topic
CROSS JOIN (SELECT count(*) AS partitions FROM cut_partitions) cut
LEFT JOIN txns t ON t.txn = s.txn
LEFT JOIN proven_txns p ON p.txn = s.txn
LEFT JOIN cut_partitions c ON c."partition" = s."partition"
LEFT JOIN (
    SELECT attempt, count(*) AS positions
    FROM committed_input
    WHERE attempt IS NOT NULL
    GROUP BY attempt
) e ON e.attempt = s.attempt
""",
)

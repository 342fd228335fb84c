"""Attempts to send to an input, and what each may have led to.

* `may`: it may have happened: neither `fail` nor in an aborted transaction.
* `must`: it was acknowledged outside a transaction, or belongs to a transaction known to be
  committed, whether or not the send itself was answered.
* `gone`: its entry may have been deleted since, so its absence proves nothing.
* `positions`: number of committed entries with its attempt id.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="attempts",
    meaning=(
        "attempts to send to the inputs: which may and must have succeeded, and their positions"
    ),
    sql="""
SELECT i.trial, s.attempt, s.record, s.session, s.txn, s.topic, s."partition", s."offset",
       s.ordinal, s.outcome,
       s.outcome <> 'fail' AND COALESCE(t.outcome <> 'aborted', TRUE) AS may,
       CASE WHEN s.txn IS NULL THEN s.outcome = 'ok'
            ELSE s.outcome <> 'fail' AND n.txn IS NOT NULL END AS must,
       CASE
           WHEN s."partition" IS NOT NULL
           THEN c."partition" IS NOT NULL
                AND (c.compacted OR s."offset" IS NULL OR s."offset" < c.log_start)
           ELSE cut.topic IS NOT NULL
       END AS gone,
       COALESCE(e.positions, 0) AS positions
FROM sends_in_question s
JOIN inputs i ON i.topic = s.topic
LEFT JOIN cut_topics cut ON cut.trial = i.trial
LEFT JOIN txns t ON t.txn = s.txn
LEFT JOIN known_txns n ON n.txn = s.txn
LEFT JOIN cut_partitions c ON c.trial = i.trial AND c."partition" = s."partition"
LEFT JOIN (
    SELECT attempt, count(*) AS positions
    FROM committed_input
    GROUP BY attempt
) e ON e.attempt = s.attempt
""",
)

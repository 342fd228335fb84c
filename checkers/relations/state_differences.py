"""Final values that differ from what the committed inputs yield.

Only aggregates with contributions, and only if nothing was deleted from the input's log. A row with
a digest in place of an amount holds something that is not an amount.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="state_differences",
    meaning="values of the final state that are not what the committed inputs yield",
    empty_without=("contributions",),
    sql="""
SELECT d.trial, d.state_key, d.aggregate, d.operation, d.expected_amount, d.amount,
       d.expected_digest, d.digest
FROM (
    SELECT COALESCE(x.trial, s.trial) AS trial,
           COALESCE(x.state_key, s.state_key) AS state_key,
           COALESCE(x.aggregate, s.aggregate) AS aggregate,
           x.operation, x.amount AS expected_amount, s.amount,
           x.digest AS expected_digest, s.digest,
           x.state_key IS NULL AS unasked, s.state_key IS NULL AS absent, x.deletable
    FROM (
        SELECT trial, state_key, aggregate, min(operation) AS operation, max(amount) AS amount,
               min(digest) AS digest, max(CASE WHEN deleted THEN 1 ELSE 0 END) AS deletable
        FROM expected_states
        GROUP BY trial, state_key, aggregate
    ) x
    FULL OUTER JOIN (
        SELECT k.trial, f.state_key, f.aggregate, f.amount, f.digest
        FROM state f
        JOIN by_state k ON k.sink = f.sink AND k.view = f.view
        JOIN (SELECT DISTINCT sink, aggregate FROM contributions) n
          ON n.sink = f.sink AND n.aggregate = f.aggregate
    ) s ON s.trial = x.trial AND s.state_key = x.state_key AND s.aggregate = x.aggregate
) d
JOIN outputs k ON k.trial = d.trial
LEFT JOIN cut_topics cut ON cut.topic = k.topic
LEFT JOIN expected_states c ON c.trial = d.trial AND c.state_key = d.state_key
     AND c.aggregate = d.aggregate AND c.digest = d.digest
WHERE cut.topic IS NULL
  AND (d.unasked
       OR (d.absent AND d.deletable = 0)
       OR d.amount <> d.expected_amount
       OR (d.operation <> 'last' AND d.amount IS NULL AND d.digest IS NOT NULL)
       OR (d.operation = 'last' AND d.digest IS NOT NULL AND c.trial IS NULL))
""",
)

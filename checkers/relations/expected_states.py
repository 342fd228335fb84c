"""The final value of every aggregate of every key that the committed inputs yield.

Sums are exact; if an amount is unknown they are NULL. `last` has a row for each digest that the
last input may leave: inputs in several partitions have no common order, so the last of each
partition is a candidate, and where a record counts once, any of its entries. An input can be the
last of its partition if every other unit has an entry before it or in another partition.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="expected_states",
    meaning="final values that the committed inputs yield",
    sql="""
SELECT s.trial, s.state_key, s.aggregate, s.operation,
       CASE WHEN s.operation = 'count' OR s.known = s.inputs THEN s.amount END AS amount,
       CAST(NULL AS VARCHAR) AS digest, FALSE AS deleted
FROM (
    SELECT c.trial, c.state_key, c.aggregate, c.operation,
           count(c.amount) AS known, count(*) AS inputs,
           CASE c.operation
               WHEN 'sum' THEN sum(CAST(c.amount AS DECIMAL(38, 0)))
               WHEN 'count' THEN CAST(count(*) AS DECIMAL(38, 0))
               WHEN 'min' THEN CAST(min(c.amount) AS DECIMAL(38, 0))
               WHEN 'max' THEN CAST(max(c.amount) AS DECIMAL(38, 0))
           END AS amount
    FROM contributed c
    WHERE c.operation <> 'last' AND c.counts
    GROUP BY c.trial, c.state_key, c.aggregate, c.operation
) s
UNION ALL
SELECT c.trial, c.state_key, c.aggregate, 'last' AS operation,
       CAST(NULL AS DECIMAL(38, 0)) AS amount, c.digest, c.digest IS NULL AS deleted
FROM contributed c
LEFT JOIN (
    SELECT u.trial, u.state_key, u.aggregate, u."partition", max(u.first_offset) AS first_offset
    FROM (
        SELECT trial, state_key, aggregate, unit, min("partition") AS "partition",
               min("offset") AS first_offset
        FROM contributed
        WHERE operation = 'last'
        GROUP BY trial, state_key, aggregate, unit
        HAVING min("partition") = max("partition")
    ) u
    GROUP BY u.trial, u.state_key, u.aggregate, u."partition"
) f ON f.trial = c.trial AND f.state_key = c.state_key AND f.aggregate = c.aggregate
   AND f."partition" = c."partition"
WHERE c.operation = 'last' AND (f.trial IS NULL OR c."offset" >= f.first_offset)
""",
)

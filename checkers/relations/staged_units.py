"""Offsets sent to a transaction (staged): committed, missing or undecided.

One is committed if it was recorded as done and no other transaction staged the same. It is missing
if its owner's positions are known and none in that partition has reached it.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="staged_units",
    meaning="staged positions of transactions: committed, missing or undecided",
    sql="""
SELECT g.txn, g.owner, g.topic, g."partition", g."offset",
       CASE WHEN max(p.topic = g.topic AND p."partition" = g."partition"
                     AND p."offset" >= g."offset")
            THEN CASE WHEN max(p.topic = g.topic AND p."partition" = g."partition"
                               AND p."offset" = g."offset") AND max(n.stagers) = 1
                      THEN 'committed' ELSE 'undecided' END
            WHEN count(p.owner) > 0 THEN 'missing'
            ELSE 'undecided' END AS state
FROM staged g
JOIN (
    SELECT owner, topic, "partition", "offset", count(DISTINCT txn) AS stagers
    FROM staged
    GROUP BY owner, topic, "partition", "offset"
) n ON n.owner = g.owner AND n.topic = g.topic AND n."partition" = g."partition"
   AND n."offset" = g."offset"
LEFT JOIN (
    SELECT p.owner, p.topic, p."partition", p."offset"
    FROM positions p
    WHERE p.kind = 'done' AND p.role <> 'advisory' AND p."by" = 'subject'
) p ON p.owner = g.owner
GROUP BY g.txn, g.owner, g.topic, g."partition", g."offset"
""",
)

"""Records that are compared in full; all others are shown to be in order by cheap prints.

The screen. A record is set aside only if each of its sends, entries, effects and expectations is
one of a pair with equal prints; nothing can be lost, duplicated, altered or unfounded about it. Two
records with the same hash only make both of them suspects, so a collision costs time. Two different
contents with the same 64-bit print would hide a difference: one chance in 2^64 for each pair;
`--exact` compares everything.

With one record of a transaction all of its records are suspects, and so are those of one that
misses a staged position or a send to a topic that is not on trial: a transaction is looked at as a
whole.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="suspects",
    meaning="hashes of the records that are compared in full",
    sql="""
SELECT o.h
FROM odd_records o
UNION
SELECT hash(s.record) AS h
FROM sends s
JOIN (
    SELECT s.txn
    FROM sends s
    JOIN odd_records o ON o.h = hash(s.record)
    WHERE s.txn IS NOT NULL
    UNION
    SELECT g.txn
    FROM staged_units g
    WHERE g.state = 'missing'
    UNION
    SELECT a.txn
    FROM torn_aside a
) x ON x.txn = s.txn
""",
)

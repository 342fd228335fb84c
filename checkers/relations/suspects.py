"""The screen: records that are compared in full, because cheap hashes do not show them in order.

A record is set aside only if each of its sends, entries, effects and expectations is in a pair with
equal hashes; then none can be lost, duplicated, altered or unfounded. If the hashes of two records
collide, both are suspects, which only costs time. A collision of two contents in 64 bits would hide
a difference, with a probability of 2^-64 per pair; `--exact` compares everything.

If one record of a transaction is a suspect, all are. So are those of a transaction that misses a
staged offset or a send to a topic not on trial.
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

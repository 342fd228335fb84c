"""The account of each record that was sent: attempts on one side, committed positions on the other.

Positions with an attempt id are booked on that attempt. The others (`unattributed`) could be
anybody's: they fill first what is missing, and only what is left over is too much. Without attempt
ids this is the plain comparison of counts per record.

* `unplaced`: attempts that must have happened and have no position (`unplaced_gone`: of these, the
  ones whose position may have been deleted);
* `free`: attempts that may have happened and have no position.
"""

from onceproof.checkers.relations.base import Relation

RELATION = Relation(
    name="record_sends",
    meaning="per record: attempts that must and may have happened, and committed positions",
    sql="""
SELECT a.trial, a.record, a.may, a.must, a.unplaced, a.unplaced_gone, a.free,
       a.positions + COALESCE(u.unattributed, 0) AS positions,
       COALESCE(u.unattributed, 0) AS unattributed
FROM (
    SELECT trial, record,
           CAST(sum(CASE WHEN may THEN 1 ELSE 0 END) AS BIGINT) AS may,
           CAST(sum(CASE WHEN must THEN 1 ELSE 0 END) AS BIGINT) AS must,
           CAST(sum(CASE WHEN must AND positions = 0 THEN 1 ELSE 0 END) AS BIGINT) AS unplaced,
           CAST(sum(CASE WHEN must AND positions = 0 AND gone THEN 1 ELSE 0 END) AS BIGINT)
               AS unplaced_gone,
           CAST(sum(CASE WHEN may AND positions = 0 THEN 1 ELSE 0 END) AS BIGINT) AS free,
           CAST(sum(positions) AS BIGINT) AS positions
    FROM attempts
    GROUP BY trial, record
) a
LEFT JOIN (
    SELECT trial, record, count(*) AS unattributed
    FROM committed_input
    WHERE attempt IS NULL
    GROUP BY trial, record
) u ON u.trial = a.trial AND u.record = a.record
""",
)

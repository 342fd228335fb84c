"""Attempts and committed entries of each record that was sent.

Entries with an attempt id count for that attempt. The others (`unattributed`) first fill what is
missing; only the rest is too much. Without attempt ids this compares counts per record.

* `unplaced`: attempts that must have happened and have no entry (`unplaced_gone`: those whose entry
  may have been deleted);
* `free`: attempts that may have happened and have no entry.
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

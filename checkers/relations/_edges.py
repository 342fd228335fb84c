"""The columns that all relations of transaction dependencies share, so that they can be combined.

An edge says that one transaction came before another, of which kind, and why. Columns that do not
apply to a kind are NULL. `onceproof.checkers.cycles` explains barriers.
"""

from __future__ import annotations

from typing import Final

COLUMNS: Final = {
    "source": "VARCHAR",
    "source_barrier": "VARCHAR",
    "target": "VARCHAR",
    "target_barrier": "VARCHAR",
    "source_place": "BIGINT",  # in the order of txn_committed, in which real time never leads back
    "target_place": "BIGINT",
    "kind": "VARCHAR",  # wr, ww, process or realtime
    "session": "VARCHAR",  # process: whose transactions both are
    "at_topic": "VARCHAR",  # wr: what the target read; ww: what the target wrote
    "at_partition": "INTEGER",
    "at_offset": "BIGINT",
    "record": "VARCHAR",
    "after_offset": "BIGINT",  # ww: what the source wrote, before it in the same partition
    "after_record": "VARCHAR",
    "from_at": "BIGINT",  # process: the source began; realtime: it ended
    "to_at": "BIGINT",  # process and realtime: the target began
    "clock": "VARCHAR",
}


def edge(kind: str, **known: str) -> str:
    """Return the SELECT list of an edge: the given expressions, and NULL for other columns."""
    known["kind"] = f"'{kind}'"
    return ", ".join(
        f"{known[name]} AS {name}" if name in known else f"CAST(NULL AS {type_}) AS {name}"
        for name, type_ in COLUMNS.items()
    )


def tangled(*kinds: str) -> str:
    """Return a query for the transactions among which these edges may have cycles.

    In any order of the transactions, a cycle must lead back somewhere, and each of its transactions
    is at or between the two ends of such an edge. All others can be left out. (An edge that leads
    forward does no harm here: its source is before its target.)
    """
    edges = " UNION ALL ".join(f"SELECT target, source_place FROM {kind}" for kind in kinds)
    return f"""
SELECT c.txn, c.clock, c.began_at, c.ended_at
FROM (
    SELECT o.txn, o.clock, o.began_at, o.ended_at, o.place,
           max(b.furthest) OVER (ORDER BY o.place ROWS UNBOUNDED PRECEDING) AS furthest
    FROM txn_committed o
    LEFT JOIN (
        SELECT e.target AS txn, max(e.source_place) AS furthest
        FROM ({edges}) e
        GROUP BY e.target
    ) b ON b.txn = o.txn
) c
WHERE c.furthest >= c.place
"""

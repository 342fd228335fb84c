"""What the relations of dependencies among transactions have in common: the columns of an edge.

An edge says that one transaction came before another, of what kind that
knowledge is, and why. All kinds have the same columns, so that they can be put together; what
means nothing for a kind is NULL. `onceproof.checkers.cycles` says what barriers are.
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
"""The columns of an edge, with their types."""


def edge(kind: str, **known: str) -> str:
    """The SELECT list of an edge: an expression for each column that is known, NULL for others."""
    known["kind"] = f"'{kind}'"
    return ", ".join(
        f"{known[name]} AS {name}" if name in known else f"CAST(NULL AS {type_}) AS {name}"
        for name, type_ in COLUMNS.items()
    )


def tangled(*kinds: str) -> str:
    """A query for the transactions that edges of these relations may have cycles among.

    Lay out all transactions in any order. A cycle must somewhere lead back, and every transaction
    of it lies between the two ends of such an edge, or is one. All others can be left aside. (An
    edge that leads forward does no harm here: its source lies before its target.)
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

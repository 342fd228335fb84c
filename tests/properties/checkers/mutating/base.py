"""Mutations and the choice of places for them.

A mutation changes rows of a world in place and returns the kind of place, or None if it does not
apply. `means` is the anomaly that it should cause; whether it did, or left a legal history, is up
to the oracle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from tests.properties.checkers.world import Row, World

Where = Callable[[Row], bool]


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """A way to mutate a world."""

    name: str
    means: str | None
    """The anomaly that it should cause; None: no particular one, often none."""
    also: frozenset[str] = frozenset()
    """Other anomalies that it causes directly: a renamed record is both a phantom and lost."""
    make: Callable[[World, Random], str | None]


NO_SEND: Final = (
    "lost-write duplicate corrupt aborted-read precommitted-read phantom-output reordered-send G1c"
)
"""Possible anomalies of a history in which a send is missing."""


def anything(row: Row) -> bool:
    return True


def data(row: Row) -> bool:
    """Whether a log row is a data entry of a known record."""
    return row["kind"] == "data" and row["record"] is not None


def committed(row: Row) -> bool:
    """Whether a log row is a committed data entry of a known record."""
    return data(row) and row["committed"]


def _in_a_transaction(world: World, row: Row) -> bool:
    sends = world.rows["sends"]
    return any(s["record"] == row["record"] and s["txn"] is not None for s in sends)


def _sent_twice(world: World, row: Row) -> bool:
    return sum(1 for s in world.rows["sends"] if s["record"] == row["record"]) > 1


def _with_several_effects(world: World, row: Row) -> bool:
    return sum(1 for e in world.rows["effects"] if e["record"] == row["record"]) > 1


def _replayed(world: World, row: Row) -> bool:
    return any(
        not r["committed"] and r["start_offset"] <= e["offset"] < r["end_offset"]
        for e in world.rows["log"]
        if e["record"] == row["record"]
        for r in world.rows["ranges"]
        if (r["topic"], r["partition"]) == (e["topic"], e["partition"])
    )


KINDS: Final[dict[str, Callable[[World, Row], bool]]] = {
    "in a transaction": _in_a_transaction,
    "sent twice": _sent_twice,
    "with several effects": _with_several_effects,
    "replayed": _replayed,
}
"""Kinds of place for rows with a record; for others there are only first, last and anywhere."""


def choose(world: World, draw: Random, rows: Sequence[Row]) -> tuple[Row, str] | None:
    """A row and the kind of place as which it was chosen."""
    if not rows:
        return None
    kind = draw.choice(("first", "last", "anywhere", *KINDS))
    if kind in KINDS and "record" in rows[0]:
        fitting = [row for row in rows if KINDS[kind](world, row)]
        if fitting:
            return draw.choice(fitting), kind
    if kind == "first":
        return rows[0], kind
    if kind == "last":
        return rows[-1], kind
    return draw.choice(rows), "anywhere"


def on_trial(world: World, row: Row) -> bool:
    """Whether a row of a sink belongs to a view on trial."""
    view = row.get("view")
    return any(
        row["sink"] in (t.sink, t.dead_letters) and view in (None, t.view) for t in world.trials
    )


def candidates(world: World, table: str, where: Where) -> list[Row]:
    """Rows of a table to which a mutation may be applied."""
    rows = [row for row in world.rows[table] if where(row)]
    if table in ("effects", "state", "journal", "contributions"):
        rows = [row for row in rows if on_trial(world, row)]
    return rows


Change = Callable[[World, Random, Row], bool | None]
"""Changes the chosen row; False: not applicable."""


def mutation(
    name: str,
    means: str | None,
    table: str,
    change: Change,
    where: Where = anything,
    also: str = "",
) -> Mutation:
    """A mutation of one row of a table; `also` are names separated by spaces."""

    def make(world: World, draw: Random) -> str | None:
        chosen = choose(world, draw, candidates(world, table, where))
        if chosen is None or change(world, draw, chosen[0]) is False:
            return None
        return chosen[1]

    return Mutation(name=name, means=means, make=make, also=frozenset(also.split()))


def remove(world: World, table: str, row: Row) -> None:
    """Remove this row, compared by identity."""
    rows = world.rows[table]
    del rows[next(i for i, other in enumerate(rows) if other is row)]


def end_of(world: World, topic: str, partition: int) -> int:
    """The offset after everything ever written to a partition."""
    place = (topic, partition)
    ends = [e["offset"] + 1 for e in world.rows["log"] if (e["topic"], e["partition"]) == place]
    ends += [
        p["high_watermark"]
        for p in world.rows["partitions"]
        if (p["topic"], p["partition"]) == place
    ]
    return max(ends, default=0)


def append(world: World, entry: Row) -> Row:
    """Append a data entry to its partition's log."""
    end = end_of(world, entry["topic"], entry["partition"])
    added = {**entry, "offset": end}
    world.rows["log"].append(added)
    for p in world.rows["partitions"]:
        if (p["topic"], p["partition"]) == (entry["topic"], entry["partition"]):
            stable = p["last_stable_offset"] == p["high_watermark"]
            p["high_watermark"] = end + 1
            if stable:
                p["last_stable_offset"] = end + 1
    return added


def free_offset(world: World, topic: str, partition: int, near: int) -> int | None:
    """An unused offset of the partition shortly below `near`."""
    taken = {
        e["offset"] for e in world.rows["log"] if (e["topic"], e["partition"]) == (topic, partition)
    }
    return next((o for o in range(near - 1, max(-1, near - 12), -1) if o not in taken), None)

"""What a mutation is, and how it finds the place where it is made.

A mutation changes rows of a world in place and says where it was made, or says
nothing because there is no place for it. `means` is the anomaly that it is meant to make; whether
it did, or left a history that is legal, is for the oracle to say.
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
    """One way to mutate a world."""

    name: str
    means: str | None
    """The anomaly that it is meant to make; None: nothing in particular, often nothing at all."""
    also: frozenset[str] = frozenset()
    """What else it makes by itself, not as a consequence: a record that gets another's name is a
    phantom there, and lost where it was."""
    make: Callable[[World, Random], str | None]


NO_SEND: Final = (
    "lost-write duplicate corrupt aborted-read precommitted-read phantom-output reordered-send G1c"
)
"""What it looks like when a send was not written down: somebody else must have been the sender."""


def anything(row: Row) -> bool:
    """No restriction."""
    return True


def data(row: Row) -> bool:
    """A data entry of a log that says whose it is."""
    return row["kind"] == "data" and row["record"] is not None


def committed(row: Row) -> bool:
    """A committed data entry."""
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
"""Kinds of place, for rows that name a record; others are only the first, the last or any."""


def choose(world: World, draw: Random, rows: Sequence[Row]) -> tuple[Row, str] | None:
    """A row of some kind, and which kind it was chosen as."""
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
    """Whether a row of a sink stands where somebody looks."""
    view = row.get("view")
    return any(
        row["sink"] in (t.sink, t.dead_letters) and view in (None, t.view) for t in world.trials
    )


def candidates(world: World, table: str, where: Where) -> list[Row]:
    """Rows of a table where a mutation may be made."""
    rows = [row for row in world.rows[table] if where(row)]
    if table in ("effects", "state", "journal", "contributions"):
        rows = [row for row in rows if on_trial(world, row)]
    return rows


Change = Callable[[World, Random, Row], bool | None]
"""What is done to the chosen row; False: it cannot be done there."""


def mutation(
    name: str,
    means: str | None,
    table: str,
    change: Change,
    where: Where = anything,
    also: str = "",
) -> Mutation:
    """A mutation that is made at one row of a table; `also` are names, with spaces between."""

    def make(world: World, draw: Random) -> str | None:
        chosen = choose(world, draw, candidates(world, table, where))
        if chosen is None or change(world, draw, chosen[0]) is False:
            return None
        return chosen[1]

    return Mutation(name=name, means=means, make=make, also=frozenset(also.split()))


def remove(world: World, table: str, row: Row) -> None:
    """Take this very row away."""
    rows = world.rows[table]
    del rows[next(i for i, other in enumerate(rows) if other is row)]


def end_of(world: World, topic: str, partition: int) -> int:
    """The offset after everything that was ever written to a partition."""
    place = (topic, partition)
    ends = [e["offset"] + 1 for e in world.rows["log"] if (e["topic"], e["partition"]) == place]
    ends += [
        p["high_watermark"]
        for p in world.rows["partitions"]
        if (p["topic"], p["partition"]) == place
    ]
    return max(ends, default=0)


def append(world: World, entry: Row) -> Row:
    """Put a data entry at the end of its partition's log."""
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
    """An offset below `near` that no entry of the partition has."""
    taken = {
        e["offset"] for e in world.rows["log"] if (e["topic"], e["partition"]) == (topic, partition)
    }
    return next((o for o in range(near - 1, max(-1, near - 12), -1) if o not in taken), None)

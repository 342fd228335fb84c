"""Positions and ranges claim more, less or other processing than took place."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from tests.properties.checkers.mutating.base import Change, Mutation, mutation, on_trial, remove
from tests.properties.checkers.world import Row, World


def _shifted(column: str, *by: int) -> Change:
    def change(world: World, draw: Random, row: Row) -> None:
        row[column] = max(0, row[column] + draw.choice(by))

    return change


def _to(column: str, *values: Any) -> Change:
    def change(world: World, draw: Random, row: Row) -> None:
        row[column] = draw.choice(values)

    return change


def _done(role: str) -> Any:
    return lambda row: (row["role"], row["kind"]) == (role, "done")


def _rewound(world: World, draw: Random, row: Row) -> bool:
    """Sets the owner's latest position back to that of a processed input."""
    place = (row["owner"], row["role"], row["sink"], row["topic"], row["partition"])
    owner_positions = [
        p
        for p in world.rows["positions"]
        if p["kind"] == "done"
        and (p["owner"], p["role"], p["sink"], p["topic"], p["partition"]) == place
    ]
    last = max(owner_positions, key=lambda p: (p["ordinal"], p["offset"]))
    below = [
        e["offset"]
        for e in world.rows["log"]
        if (e["topic"], e["partition"]) == place[3:] and e["offset"] < last["offset"]
    ]
    if not below:
        return False
    offset = draw.choice(below)
    for p in owner_positions:
        p["offset"] = min(p["offset"], offset) if draw.random() < 0.9 else p["offset"]
    last["offset"] = offset
    return True


def _regressed(world: World, draw: Random, row: Row) -> None:
    """Adds an earlier position after the last one."""
    last = max(p["ordinal"] for p in world.rows["positions"])
    back = max(0, row["offset"] - draw.randint(1, 3))
    world.rows["positions"].append({**row, "ordinal": last + 1, "offset": back})


def _without_effects(world: World, draw: Random, row: Row) -> bool:
    """Drops the effects of a record whose position was passed."""
    missing = [
        e for e in world.rows["effects"] if e["record"] == row["record"] and on_trial(world, e)
    ]
    for e in missing:
        remove(world, "effects", e)
    return bool(missing)


def _range_copied(world: World, draw: Random, row: Row) -> None:
    world.rows["ranges"].append({**row, "batch": row["batch"] + draw.choice((0, 1))})


def _range_dropped(world: World, draw: Random, row: Row) -> None:
    remove(world, "ranges", row)


def _range_shifted(world: World, draw: Random, row: Row) -> None:
    by = draw.choice((-1, 1, 2))
    row["start_offset"] = max(0, row["start_offset"] + by)
    row["end_offset"] = max(0, row["end_offset"] + by)


MUTATIONS: Final[tuple[Mutation, ...]] = (
    mutation("atomic position set back", "offset-behind", "positions", _rewound,
          _done("atomic")),
    mutation("resume position set back", None, "positions", _rewound, _done("resume")),
    mutation("position went back", "offset-regressed", "positions", _regressed),
    mutation("position shifted", None, "positions", _shifted("offset", -3, -2, -1, 1, 2)),
    mutation("position of another role", None, "positions", _to("role", "advisory", "resume")),
    mutation("position planned", None, "positions", _to("kind", "planned", "done")),
    mutation("position set by another party", None, "positions", _to("by", "harness", "subject")),
    mutation("passed without effect", "offset-ahead", "log", _without_effects,
          lambda row: row["record"] is not None),
    mutation("range shifted", "offset-gap", "ranges", _range_shifted),
    mutation("range copied", "offset-gap", "ranges", _range_copied),
    mutation("range dropped", "offset-gap", "ranges", _range_dropped),
    mutation("range start altered", "offset-gap", "ranges", _shifted("start_offset", -2, -1, 1)),
    mutation("range end altered", "offset-gap", "ranges", _shifted("end_offset", -2, -1, 1)),
    mutation("range commit flag altered", "offset-gap", "ranges",
          _to("committed", True, False)),
)  # fmt: skip

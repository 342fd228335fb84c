"""A row appears twice."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.properties.checkers.mutating.base import (
    Mutation,
    append,
    committed,
    data,
    end_of,
    mutation,
)
from tests.properties.checkers.world import Row, World


def _entry(world: World, draw: Random, row: Row) -> None:
    append(world, row)


def _entry_elsewhere(world: World, draw: Random, row: Row) -> None:
    append(world, {**row, "partition": row["partition"] + draw.choice((1, 2))})


def _entry_resent(world: World, draw: Random, row: Row) -> None:
    """The record was really sent again, but processed only once."""
    resent = {**row, "attempt": f"again/{len(world.rows['sends'])}"}
    append(world, resent)
    for send in world.rows["sends"]:
        if send["record"] == row["record"] and send["topic"] == row["topic"]:
            offset = end_of(world, row["topic"], row["partition"]) - 1
            world.rows["sends"].append(
                {**send, "attempt": resent["attempt"], "ordinal": send["ordinal"] + 100,
                 "partition": row["partition"], "offset": offset, "outcome": "ok", "txn": None}
            )  # fmt: skip
            return


def _effect(world: World, draw: Random, row: Row) -> None:
    same = draw.random() < 0.2
    last = max(e["ordinal"] for e in world.rows["effects"])
    copy = row if same else {**row, "position": f"{row['position']}~copy", "ordinal": last + 1}
    world.rows["effects"].append(dict(copy))


def _change(world: World, draw: Random, row: Row) -> None:
    last = max(j["ordinal"] for j in world.rows["journal"])
    world.rows["journal"].append({**row, "ordinal": last + 1})


def _read(world: World, draw: Random, row: Row) -> None:
    """The reader gets it again at the end of its session."""
    last = max(r["ordinal"] for r in world.rows["reads"] if r["session"] == row["session"])
    world.rows["reads"].append({**row, "ordinal": last + 1, "at": row["at"] + 1_000})


MUTATIONS: Final[tuple[Mutation, ...]] = (
    mutation(
        "entry copied", "duplicate", "log", _entry, committed, also="unseen inconsistent-offsets"
    ),
    mutation(
        "entry copied to another partition",
        "duplicate",
        "log",
        _entry_elsewhere,
        committed,
        also="unseen skipped-read inconsistent-offsets",
    ),
    mutation("any entry copied", None, "log", _entry, data),
    mutation(
        "entry sent again, not processed",
        "lost-output",
        "log",
        _entry_resent,
        committed,
        also="unseen state-mismatch inconsistent-offsets",
    ),
    mutation("effect copied", "duplicate-output", "effects", _effect),
    mutation("change copied", "duplicate-output", "journal", _change),
    mutation("read repeated", "repeated-read", "reads", _read),
)

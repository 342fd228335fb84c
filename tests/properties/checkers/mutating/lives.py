"""Lives of processes overlap that should not."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.properties.checkers.mutating.base import Mutation, mutation
from tests.properties.checkers.world import Row, World, new


def _zombie(world: World, draw: Random, row: Row) -> bool:
    """A successor of its writer had begun when the effect was written."""
    mine = next((i for i in world.rows["instances"] if i["instance"] == row["instance"]), None)
    if mine is None:
        return False
    for _ in range(draw.choice((1, 1, 2))):
        world.rows["instances"].append(
            new("instances", subject=draw.choice((mine["subject"], mine["subject"], "another")),
                instance=f"{row['instance']}~{len(world.rows['instances'])}",
                started_at=row["at"] - draw.choice((-1, 0, 0, 1)),
                clock=draw.choice(("clock", "clock", "another host")))
        )  # fmt: skip
    return True


def _late(world: World, draw: Random, row: Row) -> None:
    """A write that was on its way for long."""
    row["at"] += draw.choice((1, 10, 1_000))


def _by_another(world: World, draw: Random, row: Row) -> None:
    row["instance"] = draw.choice([i["instance"] for i in world.rows["instances"]] or ["?"])


def _known(row: Row) -> bool:
    return row["instance"] is not None and row["at"] is not None


MUTATIONS: Final[tuple[Mutation, ...]] = (
    mutation("zombie", "zombie-write", "effects", _zombie, _known),
    mutation("late effect", "zombie-write", "effects", _late, _known),
    mutation("effect by another life", "zombie-write", "effects", _by_another, _known),
)

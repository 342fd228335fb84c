"""Lifetimes of instances overlap."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.properties.checkers.mutating.base import Mutation, mutation
from tests.properties.checkers.world import Row, World, new


def _zombie(world: World, draw: Random, row: Row) -> bool:
    """A successor of the writer had started when the effect was written."""
    writer = next((i for i in world.rows["instances"] if i["instance"] == row["instance"]), None)
    if writer is None:
        return False
    for _ in range(draw.choice((1, 1, 2))):
        world.rows["instances"].append(
            new("instances", subject=draw.choice((writer["subject"], writer["subject"], "another")),
                instance=f"{row['instance']}~{len(world.rows['instances'])}",
                started_at=row["at"] - draw.choice((-1, 0, 0, 1)),
                clock=draw.choice(("clock", "clock", "another host")))
        )  # fmt: skip
    return True


def _late(world: World, draw: Random, row: Row) -> None:
    """The effect was written later than recorded."""
    row["at"] += draw.choice((1, 10, 1_000))


def _by_another(world: World, draw: Random, row: Row) -> None:
    row["instance"] = draw.choice([i["instance"] for i in world.rows["instances"]] or ["?"])


def _has_writer(row: Row) -> bool:
    return row["instance"] is not None and row["at"] is not None


MUTATIONS: Final[tuple[Mutation, ...]] = (
    mutation("zombie", "zombie-write", "effects", _zombie, _has_writer),
    mutation("late effect", "zombie-write", "effects", _late, _has_writer),
    mutation("effect by another instance", "zombie-write", "effects", _by_another, _has_writer),
)

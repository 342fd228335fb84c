"""Effects that say wrongly where they come from, and dead letters that should not be there."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.properties.checkers.mutating.base import Mutation, mutation, on_trial, remove
from tests.properties.checkers.world import Row, World

_SOURCE = ("source_topic", "source_partition", "source_offset")


def _carries(row: Row) -> bool:
    return all(row[name] is not None for name in _SOURCE)


def _next_door(world: World, draw: Random, row: Row) -> None:
    """Another position, where something else or nothing stands."""
    row["source_offset"] = max(0, row["source_offset"] + draw.choice((-2, -1, 1, 2)))


def _other_partition(world: World, draw: Random, row: Row) -> None:
    row["source_partition"] += draw.choice((1, 2))


def _forgotten(world: World, draw: Random, row: Row) -> None:
    row[draw.choice(_SOURCE)] = None


def _other_topic(world: World, draw: Random, row: Row) -> None:
    row["source_topic"] = draw.choice(("input", "orders", "elsewhere"))


def _letter_too(world: World, draw: Random, row: Row) -> bool:
    """A record that was processed is a dead letter as well."""
    letters = [t.dead_letters for t in world.trials if t.sink == row["sink"] and t.dead_letters]
    if not letters:
        return False
    last = max(e["ordinal"] for e in world.rows["effects"])
    world.rows["effects"].append(
        {**row, "sink": letters[0], "effect_key": "", "position": "letter", "ordinal": last + 1}
    )
    return True


def _letter(row: Row) -> bool:
    return bool(row["sink"] == "dead-letters")


def _letter_twice(world: World, draw: Random, row: Row) -> None:
    world.rows["effects"].append({**row, "position": f"{row['position']}~copy"})


def _letter_lost(world: World, draw: Random, row: Row) -> bool:
    if not on_trial(world, row):
        return False
    remove(world, "effects", row)
    return True


MUTATIONS: Final[tuple[Mutation, ...]] = (
    mutation("effect from next door", "unfounded-output", "effects", _next_door, _carries),
    mutation(
        "effect from another partition", "unfounded-output", "effects", _other_partition, _carries
    ),
    mutation("effect from somewhere", None, "effects", _forgotten, _carries),
    mutation(
        "effect from another topic",
        "lost-output",
        "effects",
        _other_topic,
        _carries,
        "unfounded-output",
    ),
    mutation("processed and a dead letter", "duplicate-output", "effects", _letter_too),
    mutation("dead letter twice", "duplicate-output", "effects", _letter_twice, _letter),
    mutation("dead letter lost", "lost-output", "effects", _letter_lost, _letter),
)

"""Effects with a wrong source, and dead letters that should not exist."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.properties.checkers.mutating.base import Mutation, mutation, on_trial, remove
from tests.properties.checkers.world import Row, World

_SOURCE = ("source_topic", "source_partition", "source_offset")


def _has_source(row: Row) -> bool:
    return all(row[name] is not None for name in _SOURCE)


def _neighbouring_offset(world: World, draw: Random, row: Row) -> None:
    """Another offset, with another entry or none."""
    row["source_offset"] = max(0, row["source_offset"] + draw.choice((-2, -1, 1, 2)))


def _other_partition(world: World, draw: Random, row: Row) -> None:
    row["source_partition"] += draw.choice((1, 2))


def _incomplete_source(world: World, draw: Random, row: Row) -> None:
    row[draw.choice(_SOURCE)] = None


def _other_topic(world: World, draw: Random, row: Row) -> None:
    row["source_topic"] = draw.choice(("input", "orders", "elsewhere"))


def _also_dead_letter(world: World, draw: Random, row: Row) -> bool:
    """A processed record also becomes a dead letter."""
    dead_letter_sinks = [
        t.dead_letters for t in world.trials if t.sink == row["sink"] and t.dead_letters
    ]
    if not dead_letter_sinks:
        return False
    last = max(e["ordinal"] for e in world.rows["effects"])
    world.rows["effects"].append(
        {
            **row,
            "sink": dead_letter_sinks[0],
            "effect_key": "",
            "position": "letter",
            "ordinal": last + 1,
        }
    )
    return True


def _is_dead_letter(row: Row) -> bool:
    return bool(row["sink"] == "dead-letters")


def _dead_letter_copied(world: World, draw: Random, row: Row) -> None:
    world.rows["effects"].append({**row, "position": f"{row['position']}~copy"})


def _dead_letter_lost(world: World, draw: Random, row: Row) -> bool:
    if not on_trial(world, row):
        return False
    remove(world, "effects", row)
    return True


MUTATIONS: Final[tuple[Mutation, ...]] = (
    mutation(
        "effect from a neighbouring offset",
        "unfounded-output",
        "effects",
        _neighbouring_offset,
        _has_source,
    ),
    mutation(
        "effect from another partition",
        "unfounded-output",
        "effects",
        _other_partition,
        _has_source,
    ),
    mutation("effect with an incomplete source", None, "effects", _incomplete_source, _has_source),
    mutation(
        "effect from another topic",
        "lost-output",
        "effects",
        _other_topic,
        _has_source,
        "unfounded-output",
    ),
    mutation("processed and a dead letter", "duplicate-output", "effects", _also_dead_letter),
    mutation(
        "dead letter twice", "duplicate-output", "effects", _dead_letter_copied, _is_dead_letter
    ),
    mutation("dead letter lost", "lost-output", "effects", _dead_letter_lost, _is_dead_letter),
)

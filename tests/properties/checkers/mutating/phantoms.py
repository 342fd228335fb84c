"""A row comes from nothing, or from something that never happened."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.properties.checkers.mutating.base import (
    Mutation,
    append,
    data,
    end_of,
    mutation,
    on_trial,
)
from tests.properties.checkers.world import Row, World, new


def _entry(world: World, draw: Random, row: Row) -> None:
    append(world, {**row, "record": "x", "attempt": draw.choice(("x/1", None))})


def _expected_entry(world: World, draw: Random, row: Row) -> None:
    append(world, {**row, "record": "never sent", "attempt": None})


def _effect_of_aborted(world: World, draw: Random, row: Row) -> bool:
    """An effect of a record that the pipeline should not have read."""
    models = [e for e in world.rows["effects"] if on_trial(world, e)]
    if not models:
        return False
    model = draw.choice(models)
    last = max(e["ordinal"] for e in world.rows["effects"])
    effect = {**model, "record": row["record"], "position": "of an aborted", "ordinal": last + 1}
    if model["source_topic"] is not None and model["source_offset"] is not None:
        effect |= {f"source_{name}": row[name] for name in ("topic", "partition", "offset")}
    world.rows["effects"].append(effect)
    return True


def _effect_of_failed(world: World, draw: Random, row: Row) -> bool:
    """An effect of an aborted send whose entry is missing in the log."""
    aborted = {
        "topic": row["topic"], "partition": 0, "offset": end_of(world, row["topic"], 0) + 3,
        "record": row["record"],
    }  # fmt: skip
    return _effect_of_aborted(world, draw, aborted)


def _state(world: World, draw: Random, row: Row) -> None:
    world.rows["state"].append(
        new("state", sink=row["sink"], view=row["view"], state_key="k9", aggregate=row["aggregate"],
            amount=row["amount"], digest=row["digest"])
    )  # fmt: skip


MUTATIONS: Final[tuple[Mutation, ...]] = (
    mutation("phantom entry", "phantom", "log", _entry, data, "unseen inconsistent-offsets"),
    mutation("phantom entry with expected effects", "phantom", "log", _expected_entry, data,
          "unseen inconsistent-offsets"),
    mutation("effect of an aborted entry", "unfounded-output", "log", _effect_of_aborted,
          lambda row: data(row) and not row["committed"], "wrong-output reordered-output"),
    mutation("effect of a failed send", "unfounded-output", "sends", _effect_of_failed,
          lambda row: row["outcome"] == "fail", "wrong-output reordered-output"),
    mutation("phantom state", "state-mismatch", "state", _state),
)  # fmt: skip

"""A row is in the wrong place, or two rows are swapped."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.properties.checkers.mutating.base import (
    Change,
    Mutation,
    committed,
    data,
    end_of,
    free_offset,
    mutation,
)
from tests.properties.checkers.world import Row, World


def _to_the_end(world: World, draw: Random, row: Row) -> None:
    row["offset"] = end_of(world, row["topic"], row["partition"])


def _back(world: World, draw: Random, row: Row) -> bool:
    offset = free_offset(world, row["topic"], row["partition"], row["offset"])
    if offset is None:
        return False
    row["offset"] = offset
    return True


def _to_another_partition(world: World, draw: Random, row: Row) -> None:
    partition = row["partition"] + draw.choice((1, 2))
    row["offset"] = end_of(world, row["topic"], partition)
    row["partition"] = partition


def _to_another_topic(world: World, draw: Random, row: Row) -> None:
    row["offset"] = end_of(world, "elsewhere", row["partition"])
    row["topic"] = "elsewhere"


def _swapped(world: World, draw: Random, row: Row) -> bool:
    """Exchanges offsets with another entry of the partition."""
    place = (row["topic"], row["partition"])
    others = [
        e
        for e in world.rows["log"]
        if e is not row and data(e) and (e["topic"], e["partition"]) == place
    ]
    if not others:
        return False
    other = draw.choice(others)
    row["offset"], other["offset"] = other["offset"], row["offset"]
    return True


def _exchanged(table: str, column: str, *same: str) -> Change:
    """Exchanges a column of two rows that are equal in some others."""

    def change(world: World, draw: Random, row: Row) -> bool:
        others = [
            o
            for o in world.rows[table]
            if o[column] != row[column] and all(o[name] == row[name] for name in same)
        ]
        if not others:
            return False
        other = draw.choice(others)
        row[column], other[column] = other[column], row[column]
        return True

    return change


_effects_swapped = _exchanged("effects", "ordinal", "sink", "view")
_changes_swapped = _exchanged("journal", "ordinal", "sink")
_sends_swapped = _exchanged("sends", "ordinal", "session")
_reads_swapped = _exchanged("reads", "ordinal", "reader", "session", "partition", "topic")
_positions_swapped = _exchanged("positions", "ordinal", "owner", "role", "kind", "partition")

MOVED: Final = (
    "unfounded-output lost-output offset-behind skipped-read unseen inconsistent-offsets "
    "state-mismatch aborted-read"
)
"""Possible anomalies of an entry that effects, positions, reads and sends place elsewhere."""

MUTATIONS: Final[tuple[Mutation, ...]] = (
    mutation("entry moved to the end", "reordered-send", "log", _to_the_end, committed, MOVED),
    mutation("entry moved back", "reordered-send", "log", _back, committed, MOVED),
    mutation(
        "entry moved to another partition",
        "corrupt",
        "log",
        _to_another_partition,
        data,
        MOVED + " reordered-send",
    ),
    mutation("entry moved to another topic", "lost-write", "log", _to_another_topic, committed),
    mutation("entries swapped", "reordered-send", "log", _swapped, data, MOVED),
    mutation("sends reordered", "reordered-send", "sends", _sends_swapped),
    mutation("effects reordered", "reordered-output", "effects", _effects_swapped),
    # An upsert moved behind a delete is a new effect.
    mutation(
        "changes reordered",
        "reordered-output",
        "journal",
        _changes_swapped,
        also="duplicate-output",
    ),
    mutation("reads reordered", "repeated-read", "reads", _reads_swapped, also="skipped-read"),
    mutation("positions reordered", "offset-regressed", "positions", _positions_swapped),
)

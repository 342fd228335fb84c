"""Something ends before its time: a log, a table, the run itself."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.properties.checkers.mutating.base import NO_SEND, Change, Mutation, mutation
from tests.properties.checkers.world import Row, World


def _rest_of(table: str, *writer: str) -> Change:
    """What one writer wrote from this row on is gone, and nobody knows that it is."""

    def change(world: World, draw: Random, row: Row) -> None:
        mine = [row[name] for name in writer]
        written = [r for r in world.rows[table] if [r[name] for name in writer] == mine]
        start = next(i for i, r in enumerate(written) if r is row)
        gone = {id(r) for r in written[start:]}
        world.rows[table][:] = [r for r in world.rows[table] if id(r) not in gone]

    return change


def _interrupted(world: World, draw: Random, row: Row) -> None:
    row["outcome"] = draw.choice(("interrupted", None, "failed"))


def _stalled(world: World, draw: Random, row: Row) -> None:
    row["outcome"] = "stalled"


def _hanging(world: World, draw: Random, row: Row) -> None:
    row["high_watermark"] += draw.randint(1, 3)


def _deleted(world: World, draw: Random, row: Row) -> None:
    row["log_start"] += draw.randint(1, 3)


def _compacted(world: World, draw: Random, row: Row) -> None:
    row["cleanup_policy"] = draw.choice(("compact", "compact,delete"))


MUTATIONS: Final[tuple[Mutation, ...]] = (
    mutation("log cut short", "lost-write", "log", _rest_of("log", "topic", "partition")),
    mutation("effects cut short", "lost-output", "effects", _rest_of("effects", "sink", "view")),
    mutation("journal cut short", "lost-output", "journal", _rest_of("journal", "sink")),
    mutation("reads cut short", "unseen", "reads", _rest_of("reads", "reader", "session")),
    mutation("positions cut short", None, "positions", _rest_of("positions", "owner", "role")),
    mutation("sends cut short", "phantom", "sends", _rest_of("sends", "session"), also=NO_SEND),
    mutation("run cut short", None, "phases", _interrupted),
    mutation("progress stalled", "no-progress", "phases", _stalled, also="hanging-transaction"),
    mutation("transaction hangs", "hanging-transaction", "partitions", _hanging),
    mutation("beginning deleted", None, "partitions", _deleted),
    mutation("compacted", None, "partitions", _compacted),
)

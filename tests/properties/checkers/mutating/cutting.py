"""A log, a table or the run ends prematurely."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.properties.checkers.mutating.base import NO_SEND, Change, Mutation, mutation
from tests.properties.checkers.world import Row, World


def _truncate(table: str, *writer: str) -> Change:
    """Drops all rows of one writer from this row on, without a trace."""

    def change(world: World, draw: Random, row: Row) -> None:
        row_writer = [row[name] for name in writer]
        writer_rows = [r for r in world.rows[table] if [r[name] for name in writer] == row_writer]
        start = next(i for i, r in enumerate(writer_rows) if r is row)
        dropped = {id(r) for r in writer_rows[start:]}
        world.rows[table][:] = [r for r in world.rows[table] if id(r) not in dropped]

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
    mutation("log cut short", "lost-write", "log", _truncate("log", "topic", "partition")),
    mutation("effects cut short", "lost-output", "effects", _truncate("effects", "sink", "view")),
    mutation("journal cut short", "lost-output", "journal", _truncate("journal", "sink")),
    mutation("reads cut short", "unseen", "reads", _truncate("reads", "reader", "session")),
    mutation("positions cut short", None, "positions", _truncate("positions", "owner", "role")),
    mutation("sends cut short", "phantom", "sends", _truncate("sends", "session"), also=NO_SEND),
    mutation("run cut short", None, "phases", _interrupted),
    mutation("progress stalled", "no-progress", "phases", _stalled, also="hanging-transaction"),
    mutation("transaction hangs", "hanging-transaction", "partitions", _hanging),
    mutation("beginning deleted", None, "partitions", _deleted),
    mutation("compacted", None, "partitions", _compacted),
)

"""Many worlds in one history, so that an engine judges them all at once.

Every identity gets its world's number as a prefix, which keeps the worlds apart and assigns
each finding to its world.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from onceproof.checkers import History
from onceproof.checkers.tables import TABLES
from tests.properties.checkers.world import Row, Rows, Trial, World

_IDENTITIES: Final[dict[str, tuple[str, ...]]] = {
    "sends": ("attempt", "record", "session", "txn", "topic", "clock"),
    "txns": ("txn", "session", "transactional_id", "clock"),
    "staged": ("txn", "owner", "topic"),
    "log": ("topic", "record", "attempt"),
    "partitions": ("topic",),
    "reads": ("reader", "session", "topic", "record", "attempt", "txn", "clock"),
    "assignments": ("reader", "session", "topic", "clock"),
    "effects": ("sink", "record", "source_topic", "owner", "instance", "clock"),
    "journal": ("sink", "record", "transaction", "source_topic", "owner"),
    "expected": ("sink", "record"),
    "contributions": ("sink", "record"),
    "state": ("sink",),
    "positions": ("owner", "instance", "sink", "topic", "clock"),
    "ranges": ("owner", "execution", "topic"),
    "instances": ("subject", "instance", "clock"),
    "faults": ("fault", "clock"),
    "hazards": ("owner", "attempt", "fault", "clock"),
    "phases": ("phase", "clock"),
    "clocks": ("writer", "clock"),
}
"""Identity columns, which must differ between worlds."""

_PREFIX = re.compile(r"w(\d+):")


def prefix(number: int) -> str:
    """The prefix of every identity of a world."""
    return f"w{number}:"


def _prefixed(table: str, row: Row, world_prefix: str) -> Row:
    named = {name: world_prefix + row[name] for name in _IDENTITIES[table] if row[name] is not None}
    return row | named


def combined(worlds: Sequence[World]) -> History:
    """One history of all worlds; a world's number is its index."""
    rows: Rows = {name: [] for name in TABLES}
    for number, world in enumerate(worlds):
        world_prefix = prefix(number)
        for name, table in world.rows.items():
            rows[name] += [_prefixed(name, row, world_prefix) for row in table]
    return History(
        {
            name: pa.Table.from_pylist(table, schema=TABLES[name].schema)
            for name, table in rows.items()
        }
    )


@dataclass(frozen=True, kw_only=True)
class Stretches:
    """Topics and trials of all worlds, each with the number of its world."""

    topics: list[tuple[int, str]]
    trials: list[tuple[int, Trial]]

    @classmethod
    def of(cls, worlds: Sequence[World]) -> Stretches:
        """Topics and trials in the order of the worlds."""
        return cls(
            topics=[(n, topic) for n, world in enumerate(worlds) for topic in world.topics],
            trials=[(n, trial) for n, world in enumerate(worlds) for trial in world.trials],
        )


def world_of(row: Row) -> int:
    """The number of the world that a row belongs to."""
    for value in row.values():
        if isinstance(value, str) and (match := _PREFIX.match(value)):
            return int(match[1])
    raise AssertionError(f"no identity in {row}")


def bare(value: Any) -> Any:
    """The value without its world's prefix."""
    return _PREFIX.sub("", value) if isinstance(value, str) else value

"""Many worlds in one history, so that an engine judges them all in one go.

Every identity gets its world's prefix, so that no row of one world meets a
row of another; what an engine finds is dealt out to the worlds by that prefix again.
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
"""Columns that name something which must not be the same in two worlds."""

_PREFIX = re.compile(r"w(\d+):")


def prefix(number: int) -> str:
    """What stands before every identity of a world."""
    return f"w{number}:"


def _prefixed(table: str, row: Row, before: str) -> Row:
    named = {name: before + row[name] for name in _IDENTITIES[table] if row[name] is not None}
    return row | named


def combined(worlds: Sequence[World]) -> History:
    """One history of all worlds; the number of a world is its place."""
    rows: Rows = {name: [] for name in TABLES}
    for number, world in enumerate(worlds):
        before = prefix(number)
        for name, table in world.rows.items():
            rows[name] += [_prefixed(name, row, before) for row in table]
    return History(
        {
            name: pa.Table.from_pylist(table, schema=TABLES[name].schema)
            for name, table in rows.items()
        }
    )


@dataclass(frozen=True, kw_only=True)
class Stretches:
    """The stretches of all worlds that are on trial, each with the number of its world."""

    topics: list[tuple[int, str]]
    trials: list[tuple[int, Trial]]

    @classmethod
    def of(cls, worlds: Sequence[World]) -> Stretches:
        """In the order of the worlds."""
        return cls(
            topics=[(n, topic) for n, world in enumerate(worlds) for topic in world.topics],
            trials=[(n, trial) for n, world in enumerate(worlds) for trial in world.trials],
        )


def world_of(row: Row) -> int:
    """The number of the world that a row of a combined history comes from."""
    for value in row.values():
        if isinstance(value, str) and (match := _PREFIX.match(value)):
            return int(match[1])
    raise AssertionError(f"no identity in {row}")


def bare(value: Any) -> Any:
    """A value as its world knows it."""
    return _PREFIX.sub("", value) if isinstance(value, str) else value

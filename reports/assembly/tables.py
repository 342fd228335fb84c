"""Read a history's tables, any of which may be missing.

`Clock` converts a table's nanoseconds to a report's seconds. It rejects times of other clocks,
which are not comparable.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from onceproof.checkers.tables import TABLES
from onceproof.reports.model import Row, Value
from onceproof.reports.text import cut, storable

History = Mapping[str, pa.Table]
TEXT_LIMIT = 300
LONG_LIMIT = 3_000
_NEVER = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class Clock:
    """The run's monotonic clock, with its value at the start of the run."""

    id: str
    origin_ns: int

    def seconds(self, at: int | None, clock: str | None) -> float | None:
        """Return seconds since the start of the run; None for an unknown time or another clock."""
        if at is None or clock != self.id:
            return None
        return round((at - self.origin_ns) / 1e9, 3)


def table(history: History, name: str) -> pa.Table:
    """Return a table with exactly the documented columns; missing ones are empty or NULL."""
    schema = TABLES[name].schema
    found = history.get(name)
    if found is None:
        return schema.empty_table()
    columns = [
        found.column(field.name)
        if field.name in found.column_names
        else pa.nulls(found.num_rows, field.type)
        for field in schema
    ]
    return pa.table(dict(zip(schema.names, columns, strict=True)))


def rows(history: History, name: str) -> list[dict[str, Any]]:
    """Return all rows as dictionaries; only for small tables."""
    found: list[dict[str, Any]] = table(history, name).to_pylist()
    return found


def rows_where(
    history: History, name: str, column: str, values: Iterable[str]
) -> list[dict[str, Any]]:
    """Return the rows whose `column` is one of `values`; suitable for large tables."""
    whole = table(history, name)
    mask = pc.is_in(whole.column(column), value_set=pa.array(sorted(values), pa.string()))
    found: list[dict[str, Any]] = whole.filter(mask).to_pylist()
    return found


def collected_from(history: History, clock: Clock) -> int:
    """Return when collecting began, in ns. What it observed happened earlier, at unknown times."""
    starts = [
        row["started_at"]
        for row in rows(history, "phases")
        if row["phase"] == "collect" and row["clock"] == clock.id and row["started_at"] is not None
    ]
    return min(starts, default=_NEVER)


def long(text: str) -> str:
    """Return text to be shown in full, up to `LONG_LIMIT` characters."""
    return cut(storable(text), LONG_LIMIT)


def short(text: str) -> str:
    """Return foreign text cut to `TEXT_LIMIT` characters."""
    return cut(storable(text), TEXT_LIMIT)


def short_or_none(text: str | None) -> str | None:
    return None if text is None else short(text)


def plain_row(row: Mapping[str, Value], clock: Clock) -> Row:
    """Return a witness row with times in seconds and texts cut."""
    clock_id = row.get("clock", clock.id)
    return {
        short(name): _plain(name, value, clock_id, clock)
        for name, value in row.items()
        if not (name == "clock" and clock_id == clock.id)
    }


def _plain(name: str, value: object, clock_id: Value, clock: Clock) -> Value:
    if isinstance(value, str):
        return short(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    is_time = name == "at" or name.endswith("_at")
    if is_time and isinstance(value, int) and not isinstance(value, bool):
        at = clock.seconds(value, clock_id if isinstance(clock_id, str) else None)
        return f"{value} ns on {clock_id}" if at is None else at
    if value is None or isinstance(value, int | float):
        return value
    return short(str(value))  # a decimal, date or other type of the engine

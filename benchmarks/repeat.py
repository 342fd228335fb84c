"""Repeating the rows of an episode as often as it takes, as a query that holds nothing in memory.

Every counted column gets its stride beside it, and one line of arithmetic
moves it on: repetition n of a row has its number plus n times its stride.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import duckdb
import pyarrow as pa

from benchmarks.counters import Counters
from benchmarks.episode import Row

_Stride = Callable[[Counters, Row], int]

_STEPS: Final = ("called", "began", "commit_called", "ended")
_STRIDES: Final[Mapping[str, _Stride]] = {
    "ordinal": lambda moved, row: moved.ordinal[row["producer"]],
    "record": lambda moved, row: moved.record[row["producer"]],
    "txn": lambda moved, row: moved.txn[row["producer"]],
    "offset": lambda moved, row: moved.offset[row["partition"]],
    "sequence": lambda moved, row: moved.sequence[row["producer"], row["partition"]],
    "effect": lambda moved, row: moved.effect,
    **dict.fromkeys(_STEPS, lambda moved, row: moved.step),
}
_TYPES: Final = {
    "leg": pa.string(),
    "kind": pa.string(),
    "outcome": pa.string(),
    "committed": pa.bool_(),
}


@dataclass(frozen=True, kw_only=True)
class Part:
    """Rows that are repeated together, and which repetitions these are."""

    rows: Sequence[Row]
    first: int = 0
    times: int = 1
    moved: Counters
    """What one repetition adds to the counters."""


def repeated(
    database: duckdb.DuckDBPyConnection, table: str, parts: Iterable[Part], *, offset_base: int = 0
) -> str:
    """A query for the rows of all parts, one part after the other.

    It is one query over a range of numbers and no UNION, because a file keeps the order of the one
    and not of the other.

    Args:
        database: gets the rows as a temporary table.
        table: that table's name.
        parts: empty ones are left out, and if all are the query is empty.
        offset_base: is added to every offset.

    Returns:
        A query with the columns of the rows, and `n`, which says which repetition it is.
    """
    parts = [part for part in parts if part.rows and part.times]
    if not parts:
        return ""
    _put(database, table, parts)
    made = []
    for column in parts[0].rows[0]:
        value = f't."{column}"'
        if column in _STRIDES:
            value += f" + r.n * t.{column}_stride"
        if column == "offset" and offset_base:
            value += f" + {offset_base}"
        made.append(f'{value} AS "{column}"')
    return (
        f"SELECT t.first + r.n AS n, {', '.join(made)} "
        f"FROM ({_places(parts)}) r JOIN {table} t ON t.place = r.place"
    )


def _put(database: duckdb.DuckDBPyConnection, table: str, parts: Sequence[Part]) -> None:
    """One table of the rows of all parts, with their strides, in order of `place`."""
    rows = [(row, part) for part in parts for row in part.rows]
    columns = {
        column: pa.array([row[column] for row, _ in rows], _TYPES.get(column, pa.int64()))
        for column in rows[0][0]
    }
    for column in columns.keys() & _STRIDES.keys():
        stride = _STRIDES[column]
        columns[f"{column}_stride"] = pa.array(
            [None if row[column] is None else stride(part.moved, row) for row, part in rows],
            pa.int64(),
        )
    columns["first"] = pa.array([part.first for _, part in rows], pa.int64())
    columns["place"] = pa.array(range(len(rows)), pa.int64())
    database.register("arriving", pa.table(columns))
    database.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT * FROM arriving")
    database.unregister("arriving")


def _places(parts: Sequence[Part]) -> str:
    """Which row of the table stands at each place of the whole, and in which repetition."""
    counts = [len(part.rows) for part in parts]
    ends = list(accumulate(len(part.rows) * part.times for part in parts))
    begin = _by_part(ends, [0, *ends])
    count = _by_part(ends, counts)
    place = _by_part(ends, [0, *accumulate(counts)])
    return (
        f"SELECT (i - begin) // size AS n, place + (i - begin) % size AS place FROM ("
        f"SELECT i, {begin} AS begin, {count} AS size, {place} AS place FROM range({ends[-1]}) x(i)"
        ") y"
    )


def _by_part(ends: Sequence[int], values: Iterable[int]) -> str:
    """The value that belongs to the part in which `i` lies."""
    *cases, (_, last) = zip(ends, values, strict=False)
    whens = " ".join(f"WHEN i < {end} THEN {value}" for end, value in cases)
    return f"CASE {whens} ELSE {last} END" if whens else str(last)

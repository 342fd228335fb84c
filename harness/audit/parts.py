"""Store the rows read so far in Parquet files, each written atomically.

File names contain partition and offsets, from which an interrupted audit resumes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

ROWS: Final = 250_000
"""Number of rows after which a file is written."""
SCHEMA: Final = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("stamp", pa.int64()),
        ("record", pa.string()),
        ("effect_key", pa.string()),
        ("digest", pa.string()),
        ("position", pa.string()),
    ]
)
"""One record of a topic, or one row of another output; `stamp` is its timestamp in milliseconds.

Outputs other than topics use partition 0, the row number as offset, and set `position`.
`effect_key` is set if an input may have several effects, `digest` if contents are compared.
"""


def reached(folder: Path, partition: int, first: int) -> int:
    """Return the offset at which to resume reading."""
    return max((_end(file) for file in _files(folder, partition)), default=first)


def forget(folder: Path, partition: int, upto: int) -> None:
    """Delete the files of a partition that end after an offset."""
    for file in _files(folder, partition):
        if _end(file) > upto:
            file.unlink()


def write_once(folder: Path, tables: Iterable[pa.Table]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    part, rows = folder / ".whole.part", 0
    with pq.ParquetWriter(part, SCHEMA, compression="lz4") as writer:
        for table in tables:
            writer.write_table(table)
            rows += table.num_rows
    part.replace(folder / _name(0, 0, rows))


def table(partition: int, columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Build a table from columns of equal length; missing columns are NULL."""
    rows = len(columns.get("offset", ()))
    arrays = [
        pa.array([partition] * rows, each.type)
        if each.name == "partition"
        else pa.array(columns[each.name], each.type)
        if each.name in columns
        else pa.nulls(rows, each.type)
        for each in SCHEMA
    ]
    return pa.table(arrays, schema=SCHEMA)


def _files(folder: Path, partition: int) -> list[Path]:
    return list(folder.glob(f"{partition:06d}-*.parquet"))


def _name(partition: int, first: int, upto: int) -> str:
    return f"{partition:06d}-{first:020d}-{upto:020d}.parquet"


def _end(file: Path) -> int:
    return int(file.stem.rpartition("-")[2])


@dataclass(kw_only=True)
class Parts:
    """Write the rows of one partition; the next file begins at offset `first`."""

    folder: Path
    partition: int
    first: int
    _columns: dict[str, list[Any]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def add(self, **columns: Sequence[Any]) -> None:
        """Add rows as columns of equal length; missing columns are NULL."""
        for name, values in columns.items():
            self._columns.setdefault(name, []).extend(values)

    def __len__(self) -> int:
        return len(self._columns.get("offset", ()))

    def write(self, upto: int) -> None:
        """Write the added rows; everything below `upto` has been read."""
        if upto == self.first:
            return
        name = _name(self.partition, self.first, upto)
        part = self.folder / f".{name}.part"
        pq.write_table(table(self.partition, self._columns), part, compression="lz4")
        part.replace(self.folder / name)
        self._columns.clear()
        self.first = upto

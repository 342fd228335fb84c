"""A folder of this machine, read with Arrow.

The one thing to know: of a Parquet file only its end is read before somebody asks for rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from checkers.bad_history import BadHistory


class LocalFolder:
    """A `Folder` of this machine."""

    def __init__(self, path: Path) -> None:
        """Name it; nothing is looked at yet."""
        self._path = path

    @property
    def place(self) -> str:
        """See `Folder`."""
        return str(self._path)

    def names(self) -> frozenset[str]:
        """See `Folder`."""
        if not self._path.is_dir():
            raise BadHistory(
                f"{self._path}: there is no such folder; expected is one with "
                "sends.parquet, log.parquet, … Give the folder `history` of a run."
            )
        return frozenset(child.name for child in self._path.iterdir())

    def text(self, name: str) -> str:
        """See `Folder`."""
        try:
            return (self._path / name).read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise BadHistory(f"{self._path / name}: expected a file of text: {error}.") from None

    def parquet(self, name: str) -> LocalParquet:
        """See `Folder`."""
        return LocalParquet(self._path / name)

    def folder(self, name: str) -> LocalFolder:
        """See `Folder`."""
        return LocalFolder(self._path / name)


class LocalParquet:
    """A `Parquet` of this machine."""

    def __init__(self, path: Path) -> None:
        """Read its end.

        Raises:
            BadHistory: it is no Parquet.
        """
        self._path = path
        try:
            self._about = pq.read_metadata(path)
            self._schema = pq.read_schema(path)
        except (OSError, pa.ArrowException) as error:
            raise self._bad(error) from None

    @property
    def place(self) -> str:
        """See `Parquet`."""
        return str(self._path)

    @property
    def schema(self) -> pa.Schema:
        """See `Parquet`."""
        return self._schema

    @property
    def rows(self) -> int:
        """See `Parquet`."""
        return int(self._about.num_rows)

    @cached_property
    def full(self) -> frozenset[str]:
        """See `Parquet`: what the file's own statistics say."""
        about = self._about
        names = {about.schema.column(i).name: i for i in range(about.num_columns)}
        return frozenset(
            name
            for name, i in names.items()
            if all(
                (stats := about.row_group(g).column(i).statistics) is not None
                and stats.has_null_count
                and stats.null_count == 0
                for g in range(about.num_row_groups)
            )
        )

    def table(self) -> pa.Table:
        """See `Parquet`."""
        try:
            return pq.read_table(self._path)
        except (OSError, pa.ArrowException) as error:
            raise self._bad(error) from None

    def distinct(
        self, columns: Sequence[str], where_known: str | None
    ) -> set[tuple[Any, ...]] | None:
        """See `Parquet`: read in small pieces."""
        read = list(dict.fromkeys([*columns, *([where_known] if where_known else [])]))
        if not set(read) <= set(self._schema.names):
            return None
        return distinct(self._pieces(read), columns, where_known)

    def _pieces(self, columns: list[str]) -> Iterator[pa.Table]:
        with pq.ParquetFile(self._path) as parquet:
            for batch in parquet.iter_batches(columns=columns):
                yield pa.Table.from_batches([batch])

    def _bad(self, error: Exception) -> BadHistory:
        return BadHistory(
            f"{self._path}: expected a Parquet file: {error}. Restore it or run again."
        )


def distinct(
    pieces: Iterator[pa.Table], columns: Sequence[str], where_known: str | None
) -> set[tuple[Any, ...]]:
    """The values that columns have together in all pieces of a table, where one is known."""
    found: set[tuple[Any, ...]] = set()
    for piece in pieces:
        rows = piece.filter(pc.is_valid(piece[where_known])) if where_known else piece
        groups = rows.select(list(columns)).group_by(list(columns)).aggregate([])
        found |= set(zip(*(groups[c].to_pylist() for c in columns), strict=True))
    return found

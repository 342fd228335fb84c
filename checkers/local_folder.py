"""A folder of this machine, read with Arrow.

Of a Parquet file only its end is read before somebody asks for rows. What is
no regular file, or lies elsewhere and is only linked to, is refused before it is opened.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from onceproof.checkers.bad_history import BadHistory
from onceproof.checkers.regular import check_regular, open_regular, read_regular

_LARGEST_TEXT: Final = 64 * 2**20
"""Bytes of a file that is read whole."""
_LONGEST: Final = 300
"""The longest error message of Arrow that is quoted, in characters."""
_UNREADABLE: Final = (OSError, pa.ArrowException, ValueError, MemoryError, OverflowError)
"""What Arrow raises at a file that is damaged, depending on where."""


class LocalFolder:
    """A `Folder` of this machine."""

    def __init__(self, path: Path, *, within: Path | None = None) -> None:
        """Name it; nothing is looked at yet.

        Args:
            within: the folder that its files must lie in, whatever is linked; None: itself.
        """
        self._path = path
        self._within = within or path

    @property
    def place(self) -> str:
        return str(self._path)

    def names(self) -> frozenset[str]:
        if not self._path.is_dir():
            raise BadHistory(
                f"{self._path}: there is no such folder; expected is one with "
                "sends.parquet, log.parquet, … Give the folder `history` of a run."
            )
        return frozenset(child.name for child in self._path.iterdir())

    def text(self, name: str) -> str:
        path = self._path / name
        try:
            return read_regular(path, self._within, at_most=_LARGEST_TEXT).decode()
        except (OSError, UnicodeDecodeError) as error:
            raise BadHistory(f"{path}: expected a file of text in UTF-8: {error}.") from None

    def size(self, name: str) -> int:
        path = self._path / name
        check_regular(path, self._within)
        try:
            return path.stat().st_size
        except OSError as error:
            raise BadHistory(f"{path} cannot be read: {error.strerror or error}.") from None

    def sha256(self, name: str) -> str:
        path = self._path / name
        try:
            with open_regular(path, self._within) as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise BadHistory(f"{path} cannot be read: {error.strerror or error}.") from None

    def parquet(self, name: str) -> LocalParquet:
        return LocalParquet(self._path / name, within=self._within)

    def folder(self, name: str) -> LocalFolder:
        return LocalFolder(self._path / name, within=self._within)


class LocalParquet:
    """A `Parquet` of this machine."""

    def __init__(self, path: Path, *, within: Path | None = None) -> None:
        """Read its end.

        Args:
            within: the folder that it must lie in; None: the one that it is in.

        Raises:
            BadHistory: it is no Parquet, or no regular file.
        """
        self._path = path
        check_regular(path, within or path.parent)
        try:
            self._about = pq.read_metadata(path)
            self._schema = pq.read_schema(path)
        except _UNREADABLE as error:
            raise self._bad(error) from None

    @property
    def place(self) -> str:
        return str(self._path)

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def rows(self) -> int:
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
        try:
            table = pq.read_table(self._path)
            table.validate(full=True)
        except _UNREADABLE as error:
            raise self._bad(error) from None
        return table

    def check(self) -> None:
        try:
            for piece in self._pieces(None):
                piece.validate(full=True)
        except _UNREADABLE as error:
            raise self._bad(error) from None

    def distinct(
        self, columns: Sequence[str], where_known: str | None
    ) -> set[tuple[Any, ...]] | None:
        """See `Parquet`: read in small pieces."""
        read = list(dict.fromkeys([*columns, *([where_known] if where_known else [])]))
        if not set(read) <= set(self._schema.names):
            return None
        try:
            return distinct(self._pieces(read), columns, where_known)
        except _UNREADABLE as error:
            raise self._bad(error) from None

    def _pieces(self, columns: list[str] | None) -> Iterator[pa.Table]:
        with pq.ParquetFile(self._path) as parquet:
            for batch in parquet.iter_batches(columns=columns):
                yield pa.Table.from_batches([batch])

    def _bad(self, error: Exception) -> BadHistory:
        message = " ".join(str(error).split())
        return BadHistory(
            f"{self._path}: expected a Parquet file: {message[:_LONGEST]}. Restore it or run again."
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

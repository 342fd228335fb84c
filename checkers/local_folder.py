"""A local folder, read with Arrow.

Opening a Parquet file reads only its footer. Anything but a regular file in the folder is rejected
unopened.
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
"""In bytes."""
_LONGEST: Final = 300
"""Maximum length of an Arrow error message that is quoted."""
_UNREADABLE: Final = (OSError, pa.ArrowException, ValueError, MemoryError, OverflowError)
"""Errors that Arrow raises on a damaged file."""


class LocalFolder:
    """A local `Folder`."""

    def __init__(self, path: Path, *, within: Path | None = None) -> None:
        """Create it without file access; linked files must be in `within` (None: `path`) too."""
        self._path = path
        self._within = within or path

    @property
    def place(self) -> str:
        return str(self._path)

    def names(self) -> frozenset[str]:
        if not self._path.is_dir():
            raise BadHistory(
                f"{self._path}: there is no such folder. Give the folder `history` of a run, with "
                "sends.parquet, log.parquet, …"
            )
        return frozenset(child.name for child in self._path.iterdir())

    def text(self, name: str) -> str:
        path = self._path / name
        try:
            return read_regular(path, self._within, at_most=_LARGEST_TEXT).decode()
        except (OSError, UnicodeDecodeError) as error:
            raise BadHistory(f"{path}: expected a UTF-8 text file: {error}.") from None

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
    """A local `Parquet`."""

    def __init__(self, path: Path, *, within: Path | None = None) -> None:
        """Read the footer; the file must be in `within` (None: its parent).

        Raises:
            BadHistory: it is not a regular Parquet file.
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
        """See `Parquet`; from the file's statistics."""
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
        """See `Parquet`; reads in small batches."""
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
    """Return the distinct values of columns over all pieces of a table."""
    found: set[tuple[Any, ...]] = set()
    for piece in pieces:
        rows = piece.filter(pc.is_valid(piece[where_known])) if where_known else piece
        groups = rows.select(list(columns)).group_by(list(columns)).aggregate([])
        found |= set(zip(*(groups[c].to_pylist() for c in columns), strict=True))
    return found

"""Protocols for reading a history's files, wherever they are.

`checkers.local_folder` implements them for local files, `checkers.engines.places` for Spark's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, Protocol

import pyarrow as pa

_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|file:/")


def is_uri(place: str) -> bool:
    """Whether a place names its file system, as in `s3a://bucket/run`, and is not a local path."""
    return _URI.match(place) is not None


class Parquet(Protocol):
    """One table in a file, read on demand. Methods raise `BadHistory` if it cannot be read."""

    @property
    def place(self) -> str:
        """The path or URI, as an engine takes it."""

    @property
    def schema(self) -> pa.Schema: ...

    @property
    def rows(self) -> int: ...

    @property
    def full(self) -> frozenset[str]:
        """Columns known to hold no NULL, without reading rows."""

    def table(self) -> pa.Table: ...

    def check(self) -> None:
        """Read the whole file to check it, where this process can."""

    def distinct(
        self, columns: Sequence[str], where_known: str | None
    ) -> set[tuple[Any, ...]] | None:
        """Return distinct values, where `where_known` is not NULL; None if a column is missing."""


class Folder(Protocol):
    """One folder. Methods raise `BadHistory` if a file does not exist or cannot be read."""

    @property
    def place(self) -> str:
        """The path or URI, for messages."""

    def names(self) -> frozenset[str]: ...

    def text(self, name: str) -> str: ...

    def size(self, name: str) -> int:
        """Return the size in bytes."""

    def sha256(self, name: str) -> str:
        """Return the hexadecimal digest."""

    def parquet(self, name: str) -> Parquet: ...

    def folder(self, name: str) -> Folder:
        """Return a subfolder, without checking that it exists."""

"""Where the files of a history lie: a folder of this machine, or one that only an engine reaches.

A `Folder` is all that a history needs of a file system, a `Parquet` all that
it needs of a file. `checkers.local_folder` has those of this machine, `checkers.engines.places`
those of every file system that Spark reads. A place is a path or a URI, as text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, Protocol

import pyarrow as pa

_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|file:/")


def is_uri(place: str) -> bool:
    """Whether a place names its file system, as in `s3a://bucket/run`; else it is a local path."""
    return _URI.match(place) is not None


class Parquet(Protocol):
    """One table in a file, of which no more is read than is asked for."""

    @property
    def place(self) -> str:
        """Where it lies, as an engine takes it."""

    @property
    def schema(self) -> pa.Schema:
        """Its columns."""

    @property
    def rows(self) -> int:
        """How many rows it has."""

    @property
    def full(self) -> frozenset[str]:
        """Columns that hold no NULL, as far as that is known without a look."""

    def table(self) -> pa.Table:
        """All of it.

        Raises:
            BadHistory: it cannot be read.
        """

    def check(self) -> None:
        """Read all of it, where that can be done here.

        Raises:
            BadHistory: it cannot be read.
        """

    def distinct(
        self, columns: Sequence[str], where_known: str | None
    ) -> set[tuple[Any, ...]] | None:
        """The values that columns have together, where one is known; None: it lacks a column."""


class Folder(Protocol):
    """One folder and what lies directly in it."""

    @property
    def place(self) -> str:
        """Where it is, for messages."""

    def names(self) -> frozenset[str]:
        """What lies there.

        Raises:
            BadHistory: there is no such folder, or it cannot be looked into.
        """

    def text(self, name: str) -> str:
        """What is in a small file.

        Raises:
            BadHistory: it cannot be read.
        """

    def size(self, name: str) -> int:
        """How many bytes a file has.

        Raises:
            BadHistory: it cannot be looked at.
        """

    def sha256(self, name: str) -> str:
        """The sum of all bytes of a file, in hexadecimal digits.

        Raises:
            BadHistory: it cannot be read.
        """

    def parquet(self, name: str) -> Parquet:
        """A file of Parquet.

        Raises:
            BadHistory: it is none.
        """

    def folder(self, name: str) -> Folder:
        """The folder of a name in it; nobody looks yet whether it is there."""

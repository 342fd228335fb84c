"""What the layers need of a database: put tables in, name queries, get rows out.

Names are chosen by the layers and never clash; a database only knows flat
names. Queries arrive in DuckDB's dialect and are translated, if need be, by `translated`, once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import pyarrow as pa


class Database(Protocol):
    """One connection to an engine.

    Attributes:
        threads: how many threads may ask at the same time.
    """

    threads: int

    def put(self, name: str, table: pa.Table) -> None:
        """Make a table out of Arrow data."""

    def attach(self, name: str, place: str, columns: str) -> None:
        """Name the Parquet file (or folder of files) at `place`.

        Args:
            place: a path or URI that the engine reads.
            columns: what to select from it: names, and NULLs for columns that it leaves out.
        """

    def create(self, name: str, query: str, *, stored: bool) -> int | None:
        """Name a query; `stored`: compute it now and keep its rows, and return how many."""

    def rows(self, query: str) -> list[dict[str, Any]]:
        """The rows of a query."""

    def arrow(self, query: str) -> pa.Table:
        """The rows of a query as an Arrow table."""

    def drop(self, names: Iterable[str]) -> None:
        """Forget what was made under these names, where dropping frees something."""

    def translated(self, query: str) -> str:
        """The query in this engine's dialect."""

    def interrupt(self) -> None:
        """Break off what all other threads ask for just now."""

    def close(self) -> None:
        """Let go of everything."""

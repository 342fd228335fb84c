"""What layers need from a database: create tables, name queries, read rows.

Layers choose unique names. Queries are in DuckDB's dialect, and `translated` converts them once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import pyarrow as pa


class Database(Protocol):
    """One connection to an engine; up to `threads` threads may query at the same time."""

    threads: int

    def put(self, name: str, table: pa.Table) -> None:
        """Create a table."""

    def attach(self, name: str, place: str, columns: str) -> None:
        """Name the Parquet file, or folder of files, at a path or URI.

        `columns` is the SELECT list: names, and NULLs for columns that it lacks.
        """

    def create(self, name: str, query: str, *, stored: bool) -> int | None:
        """Name a query. If `stored`, compute it now, keep its rows, and return their number."""

    def rows(self, query: str) -> list[dict[str, Any]]: ...

    def arrow(self, query: str) -> pa.Table: ...

    def drop(self, names: Iterable[str]) -> None:
        """Drop these names, where that frees something."""

    def translated(self, query: str) -> str:
        """Translate a query into this engine's dialect."""

    def interrupt(self) -> None:
        """Interrupt the queries of all other threads."""

    def close(self) -> None: ...

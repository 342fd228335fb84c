"""DuckDB: embedded, the default. It reads Parquet files itself and spills to disk when told to.

The one thing to know: nothing of a file is loaded before a query needs it, so memory is bounded by
what queries hold, and that by `Settings.memory`.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from typing import Any

import duckdb
import pyarrow as pa

from checkers.engines.literals import literal
from checkers.engines.settings import Settings


class DuckDB:
    """A `Database` in this process."""

    def __init__(self, settings: Settings) -> None:
        """Open an empty database in memory."""
        self._spill = tempfile.mkdtemp(prefix="onceproof-spill-") if settings.memory else None
        self._db = duckdb.connect(":memory:")
        self._kinds: dict[str, str] = {}
        # The order of rows means nothing here, and keeping it costs memory.
        self._db.execute("SET preserve_insertion_order = false")
        if settings.memory:
            self._db.execute(f"SET memory_limit = '{settings.memory}B'")
            self._db.execute(f"SET temp_directory = {literal(self._spill)}")
        if settings.threads:
            self._db.execute(f"SET threads = {settings.threads}")

    def put(self, name: str, table: pa.Table) -> None:
        """See `Database`."""
        self._db.register("arriving", table)
        self._db.execute(f"CREATE TABLE {name} AS SELECT * FROM arriving")
        self._db.unregister("arriving")
        self._kinds[name] = "TABLE"

    def attach(self, name: str, place: str, columns: str) -> None:
        """See `Database`."""
        self.create(name, f"SELECT {columns} FROM read_parquet({literal(place)})", stored=False)

    def create(self, name: str, query: str, *, stored: bool) -> None:
        """See `Database`."""
        self._kinds[name] = "TABLE" if stored else "VIEW"
        self._db.execute(f"CREATE {self._kinds[name]} {name} AS {query}")

    def rows(self, query: str) -> list[dict[str, Any]]:
        """See `Database`."""
        cursor = self._db.execute(query)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def arrow(self, query: str) -> pa.Table:
        """See `Database`."""
        table: pa.Table = self._db.sql(query).to_arrow_table()
        return table

    def drop(self, names: Iterable[str]) -> None:
        """See `Database`."""
        for name in names:
            if kind := self._kinds.pop(name, None):
                self._db.execute(f"DROP {kind} IF EXISTS {name}")

    def translated(self, query: str) -> str:
        """See `Database`: queries are written in this dialect."""
        return query

    def close(self) -> None:
        """See `Database`."""
        self._db.close()
        if self._spill:
            shutil.rmtree(self._spill, ignore_errors=True)

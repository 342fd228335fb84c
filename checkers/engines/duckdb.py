"""DuckDB: embedded, the default. It reads Parquet files itself and spills to disk when told to.

The one thing to know: nothing of a file is loaded before a query needs it, so memory is bounded by
what queries hold, and that by `Settings.memory`. Each thread asks through a connection of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from checkers.engines.literals import literal
from checkers.engines.settings import Settings
from checkers.engines.temporary import temporary_folder


class DuckDB:
    """A `Database` in this process."""

    def __init__(self, settings: Settings) -> None:
        """Open an empty database in memory."""
        self._ending = ExitStack()
        spill = self._ending.enter_context(temporary_folder())
        self._opened = duckdb.connect(":memory:")
        self._mine = threading.local()
        self._connections: list[duckdb.DuckDBPyConnection] = []
        self._kinds: dict[str, str] = {}
        self.threads = 2 if settings.threads is None else min(2, settings.threads)
        # The order of rows means nothing here, and keeping it costs memory.
        self._db.execute("SET preserve_insertion_order = false")
        self._db.execute(f"SET temp_directory = {literal(str(spill))}")
        if settings.memory:
            self._db.execute(f"SET memory_limit = '{settings.memory}B'")
        if settings.threads:
            self._db.execute(f"SET threads = {settings.threads}")

    @property
    def _db(self) -> duckdb.DuckDBPyConnection:
        """The connection of this thread; DuckDB's settings are those of the whole database."""
        connection: duckdb.DuckDBPyConnection | None = getattr(self._mine, "connection", None)
        if connection is None:
            connection = self._mine.connection = self._opened.cursor()
            self._connections.append(connection)
        return connection

    def put(self, name: str, table: pa.Table) -> None:
        """See `Database`."""
        self._db.register("arriving", table)
        self._do(f"CREATE TABLE {name} AS SELECT * FROM arriving")
        self._db.unregister("arriving")
        self._kinds[name] = "TABLE"

    def attach(self, name: str, place: str, columns: str) -> None:
        """See `Database`."""
        self.create(name, f"SELECT {columns} FROM read_parquet({literal(place)})", stored=False)

    def create(self, name: str, query: str, *, stored: bool) -> None:
        """See `Database`."""
        self._kinds[name] = "TABLE" if stored else "VIEW"
        self._do(f"CREATE {self._kinds[name]} {name} AS {query}")

    def rows(self, query: str) -> list[dict[str, Any]]:
        """See `Database`."""
        with _interruptible():
            cursor = self._db.execute(query)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def arrow(self, query: str) -> pa.Table:
        """See `Database`."""
        with _interruptible():
            table: pa.Table = self._db.sql(query).to_arrow_table()
            return table

    def drop(self, names: Iterable[str]) -> None:
        """See `Database`."""
        kinds = [(name, self._kinds.pop(name, None)) for name in names]
        drops = [f"DROP {kind} IF EXISTS {name}" for name, kind in kinds if kind]
        if drops:
            # One transaction: committing each drop by itself costs more than the drop.
            self._db.execute("; ".join(("BEGIN", *drops, "COMMIT")))

    def _do(self, statement: str) -> None:
        with _interruptible():
            self._db.execute(statement)

    def translated(self, query: str) -> str:
        """See `Database`: queries are written in this dialect."""
        return query

    def interrupt(self) -> None:
        """See `Database`."""
        for connection in self._connections:
            if connection is not self._db:
                connection.interrupt()

    def close(self) -> None:
        """See `Database`."""
        with self._ending:
            for connection in (*self._connections, self._opened):
                connection.close()


@contextmanager
def _interruptible() -> Iterator[None]:
    """DuckDB answers a signal, which only the main thread hears, with an error of its own."""
    try:
        yield
    except RuntimeError as error:
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise

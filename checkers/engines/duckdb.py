"""DuckDB, the default engine: embedded, reads Parquet itself, and spills to disk.

Files are loaded only as queries need them, so memory is bounded by `Settings.memory`. Without it
the limit is low as long as that suffices: DuckDB's default takes most of the machine before it
spills. Each thread has a connection of its own. A query that runs out of memory is repeated
alone, and finally on one thread: blocks in use by a thread cannot be spilled.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any, Final, TypeVar

import duckdb
import pyarrow as pa

from onceproof.checkers.bad_history import BadHistory
from onceproof.checkers.engines.literals import literal
from onceproof.checkers.engines.locking import SharedLock
from onceproof.checkers.engines.not_enough_memory import NotEnoughMemory
from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.engines.temporary import temporary_folder

T = TypeVar("T")
_MIN_MEMORY: Final = 600_000_000
_ROW_GROUP: Final = 122_880
"""Rows that DuckDB does not divide among threads."""
_BYTES_PER_ROW: Final = 10
"""Bytes per row of the initial limit, if that is more than `_MIN_MEMORY`."""


class DuckDB:
    """A `Database` in this process."""

    def __init__(self, settings: Settings, rows: int = 0) -> None:
        """Open a database; `rows` of the history determine the initial memory limit."""
        self._exit_stack = ExitStack()
        self._spill = str(self._exit_stack.enter_context(temporary_folder()))
        self._root_connection = duckdb.connect(":memory:")
        self._local = threading.local()
        self._connections: list[duckdb.DuckDBPyConnection] = []
        self._kinds: dict[str, str] = {}
        self._files: dict[str, str] = {}
        self._lock = SharedLock()
        self._memory = settings.memory
        # One thread reads so few rows anyway, and more threads cost more than they save.
        self._threads = settings.threads or (1 if rows <= _ROW_GROUP else None)
        self.threads = 2 if settings.threads is None else min(2, settings.threads)
        # The order of rows is irrelevant, and keeping it costs memory.
        self._db.execute("SET preserve_insertion_order = false")
        self._db.execute(f"SET temp_directory = {literal(self._spill)}")
        self._can_raise_limit = settings.memory is None
        limit = settings.memory or max(_MIN_MEMORY, _BYTES_PER_ROW * rows)
        self._db.execute(f"SET memory_limit = '{limit}B'")
        if self._threads:
            self._db.execute(f"SET threads = {self._threads}")

    @property
    def _db(self) -> duckdb.DuckDBPyConnection:
        """This thread's connection. DuckDB's settings apply to the whole database."""
        connection: duckdb.DuckDBPyConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._root_connection.cursor()
            self._connections.append(connection)
        return connection

    def put(self, name: str, table: pa.Table) -> None:
        self._db.register("arriving", table)
        self._do(f"CREATE TABLE {name} AS SELECT * FROM arriving")
        self._db.unregister("arriving")
        self._kinds[name] = "TABLE"

    def attach(self, name: str, place: str, columns: str) -> None:
        self._files[name] = place
        self.create(name, f"SELECT {columns} FROM read_parquet({literal(place)})", stored=False)

    def create(self, name: str, query: str, *, stored: bool) -> int | None:
        self._kinds[name] = "TABLE" if stored else "VIEW"
        made = self._do(f"CREATE {self._kinds[name]} {name} AS {query}")
        return int(made[0][0]) if stored else None

    def rows(self, query: str) -> list[dict[str, Any]]:
        def ask() -> list[dict[str, Any]]:
            cursor = self._db.execute(query)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

        return self._within_memory(ask)

    def arrow(self, query: str) -> pa.Table:
        def ask() -> pa.Table:
            return self._db.sql(query).to_arrow_table()

        return self._within_memory(ask)

    def drop(self, names: Iterable[str]) -> None:
        kinds = [(name, self._kinds.pop(name, None)) for name in names]
        drops = [f"DROP {kind} IF EXISTS {name}" for name, kind in kinds if kind]
        if drops:
            # One transaction: a commit costs more than a drop.
            self._db.execute("; ".join(("BEGIN", *drops, "COMMIT")))

    def _do(self, statement: str) -> list[tuple[Any, ...]]:
        return self._within_memory(lambda: self._db.execute(statement).fetchall())

    def _within_memory(self, work: Callable[[], T]) -> T:
        """Run atomic work, and repeat it if memory was too short.

        Raises:
            NotEnoughMemory: it exceeds the limit even alone on one thread.
            BadHistory: a file is damaged inside.
        """
        work = partial(self._spilled, work)
        with interruptible(self._db):
            with suppress(duckdb.OutOfMemoryException), self._lock.shared(), self._readable():
                return work()
            with self._lock.exclusive():
                with suppress(duckdb.OutOfMemoryException):
                    return work()
                if self._can_raise_limit:
                    self._db.execute("RESET memory_limit")
                    self._can_raise_limit = False
                    with suppress(duckdb.OutOfMemoryException):
                        return work()
                self._db.execute("SET threads = 1")
                try:
                    return work()
                except duckdb.OutOfMemoryException as error:
                    raise NotEnoughMemory(_advice(self._memory, error)) from error
                finally:
                    self._db.execute(
                        f"SET threads = {self._threads}" if self._threads else "RESET threads"
                    )

    def _spilled(self, work: Callable[[], T]) -> T:
        """Treat a full disk during spilling as a lack of memory."""
        try:
            return work()
        except duckdb.IOException as error:
            if self._spill in str(error):
                raise duckdb.OutOfMemoryException(str(error)) from error
            raise

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Name the damaged Parquet file, since damage shows only when pages are read."""
        try:
            yield
        except (duckdb.ProgrammingError, duckdb.OutOfMemoryException, duckdb.InterruptException):
            raise
        except duckdb.Error:
            for place in self._files.values():
                try:
                    self._db.execute(f"SELECT count(hash(t)) FROM read_parquet({literal(place)}) t")
                except duckdb.Error as error:
                    raise BadHistory(
                        f"{place} is damaged: {str(error).partition(chr(10))[0]}; restore it from "
                        "a copy"
                    ) from error
            raise

    def translated(self, query: str) -> str:
        return query

    def interrupt(self) -> None:
        for connection in self._connections:
            if connection is not self._db:
                connection.interrupt()

    def close(self) -> None:
        with self._exit_stack:
            for connection in (*self._connections, self._root_connection):
                connection.close()


def _advice(allowed: int | None, error: Exception) -> str:
    first = str(error).partition("\n")[0].removeprefix("Out of Memory Error: ")
    limit = (
        f"{allowed / 1e9:.1f} GB" if allowed else "DuckDB's default, 80 % of this machine's memory"
    )
    return (
        f"judging needs more memory than its limit ({limit}), even with one query at a time on one "
        f"thread: {first}. Raise the limit with --memory, or judge with --engine spark."
    )


@contextmanager
def interruptible(db: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let a signal that raises in the main thread end a query, as KeyboardInterrupt."""
    try:
        with _interrupting(db):
            yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except RuntimeError as error:
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise


@contextmanager
def _interrupting(db: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Interrupt the connection when a signal handler raises.

    DuckDB calls the handlers while it runs a query. But when one raises, it first waits for its own
    threads, which only an interrupt of the connection stops before the query's end.
    """
    before: dict[signal.Signals, Callable[[int, FrameType | None], Any]] = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            handler = signal.getsignal(number)
            if callable(handler):
                before[number] = handler
                signal.signal(number, partial(_interrupted, db, handler))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupted(
    db: duckdb.DuckDBPyConnection,
    handler: Callable[[int, FrameType | None], Any],
    number: int,
    frame: FrameType | None,
) -> None:
    try:
        handler(number, frame)
    except BaseException:
        db.interrupt()
        raise

"""A read-only view of a run's tables in an in-memory database.

Tables are views of the run's Parquet files. Relations of the checkers are computed when a query
first names them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import duckdb
import pyarrow as pa

from onceproof.checkers.engines.literals import literal
from onceproof.shell.relations import Relations, meanings
from onceproof.shell.source import Source

_QUERY: Final = re.compile(
    r"\s*(select|with|from|values|table|describe|desc|show|summarize|pivot|unpivot|\(|"
    r"explain\s+(analyze\s+)?(select|with|from|values|\())",
    re.IGNORECASE,
)
_CREATE_IN_MEMORY: Final = re.compile(
    r"\s*create\s+(or\s+replace\s+)?(temp(orary)?\s+)?(view|table|macro|function)\b", re.IGNORECASE
)
_UNKNOWN: Final = re.compile(r"Table with name (\w+) does not exist")
_TYPES: Final = {"SELECT", "EXPLAIN", "MULTI", "MULTI_STATEMENT", "CREATE", "CREATE_FUNC"}


class Refused(ValueError):
    """A statement that is not allowed or failed; the message says why and what to do."""


class Answer:
    """The result of one query; rows are fetched on demand."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor
        self.columns = [str(column[0]) for column in cursor.description or ()]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        while rows := self._cursor.fetchmany(1000):
            yield from rows


class Database:
    """Database connection that answers queries on a source."""

    def __init__(self, source: Source) -> None:
        self._db = duckdb.connect(
            ":memory:",
            config={"autoinstall_known_extensions": False, "autoload_known_extensions": False},
        )
        self._relations = Relations(source)
        self._derived = {name.lower(): name for name in meanings()}
        source.history.put_into(self)
        for name, table in source.judged.items():
            self.put(name, table)

    def put(self, name: str, table: pa.Table) -> None:
        self._db.register(name, table)

    def attach(self, name: str, place: str, columns: str) -> None:
        self._db.execute(
            f"CREATE VIEW {name} AS SELECT {columns} FROM read_parquet({literal(place)})"
        )

    def ask(self, text: str) -> Iterator[Answer]:
        """Execute the statements one by one.

        Raises:
            Refused: a statement is not a query, or fails.
            BadHistory: a relation cannot be derived from this history.
        """
        try:
            statements = duckdb.extract_statements(text)
        except duckdb.Error as error:
            raise Refused(
                f"{_message(error)}. Put names that are SQL keywords in double quotes, such as "
                '"offset".'
            ) from None
        for statement in statements:
            if not _is_allowed(statement):
                raise Refused(
                    f"«{_short(statement.query)}» is not a query. Only queries are allowed, and "
                    "CREATE VIEW, TABLE or MACRO in memory. To save a result, use --format csv or "
                    "json and redirect the output to a file."
                )
            yield Answer(self._execute(statement.query))

    def _execute(self, query: str) -> duckdb.DuckDBPyConnection:
        tried: set[str] = set()
        while True:
            try:
                return self._db.execute(query)
            except duckdb.CatalogException as error:
                unknown = _UNKNOWN.search(str(error))
                name = unknown[1].lower() if unknown else ""
                if name not in self._derived or name in tried:
                    raise Refused(
                        f"{_message(error)} `.tables` and `.relations` list all."
                    ) from None
                tried.add(name)
                self.put(name, self._relations.table(self._derived[name]))
            except duckdb.Error as error:
                raise Refused(_message(error)) from None

    def close(self) -> None:
        self._relations.close()
        self._db.close()


def _is_allowed(statement: duckdb.Statement) -> bool:
    kind = str(statement.type).rpartition(".")[2]
    query = statement.query
    if kind not in _TYPES:
        return False
    return bool((_CREATE_IN_MEMORY if kind.startswith("CREATE") else _QUERY).match(query))


def _short(query: str) -> str:
    words = " ".join(query.split())
    return words if len(words) <= 60 else f"{words[:57]}…"


def _message(error: duckdb.Error) -> str:
    """Return the engine's message without its excerpt of the query."""
    return " ".join(str(error).partition("\n\nLINE")[0].split())

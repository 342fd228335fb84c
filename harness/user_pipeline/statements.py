"""What a pipeline does in the stage's database, from PostgreSQL's log and catalog."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql

from onceproof.harness.context.pipeline import Positions
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.links.topology import AUDITOR, POSTGRES

APPLICATION: Final = "onceproof-feed"
"""Application name of the `--feed` command, whose writes are not the pipeline's."""
Connection = psycopg.Connection[tuple[Any, ...]]

_PREFIX: Final = "onceproof-statement (%a) "
_LOGGED: Final = re.compile(
    r"onceproof-statement \((?P<by>.*?)\) LOG:  (?P<form>statement|execute [^:\n]+):"
    r"\s*(?:insert\s+into|update|delete\s+from|merge\s+into|copy)\s+(?:only\s+)?"
    r"(?P<table>[\w.\"]+)",
    re.IGNORECASE,
)
"""A write, with its application; the statement's text often starts on a line of its own."""
_TABLES: Final = """
    SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't'
    AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'onceproof_faults')
    AND n.nspname NOT LIKE 'pg_temp%' ORDER BY 1"""
_INTEGERS: Final = """
    SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0
    AND NOT attisdropped AND atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype)"""
_MAX_ROWS: Final = 5
"""Per partition: a table with more rows does not hold offsets."""


class Statements:
    """The statements of one pipeline, from `begin` on."""

    def __init__(self, database: str, log: Path) -> None:
        self._database = database
        self._log = log

    @classmethod
    def begin(cls, context: RunContext) -> Statements | None:
        """Make the database log its statements; return None if there is no database."""
        if POSTGRES not in context.stage.nodes:
            return None
        made = cls(
            context.stage.database(AUDITOR), context.work.parent / "logs" / f"{POSTGRES}.1.log"
        )
        with psycopg.connect(made._database, autocommit=True) as connection:
            for name, value in (("log_statement", "all"), ("log_line_prefix", _PREFIX)):
                change = sql.SQL("ALTER SYSTEM SET {} = {}")
                connection.execute(change.format(sql.Identifier(name), sql.Literal(value)))
            connection.execute("SELECT pg_reload_conf()")
        return made

    def tables(self, ends: Positions) -> tuple[tuple[str, ...], str | None]:
        """Return the tables that were written to, and the one that holds offsets.

        `ends` is the end offset of each input partition.
        """
        fed = self._feed_tables()
        with psycopg.connect(self._database, autocommit=True) as connection:
            theirs = (table for table in user_tables(connection) if _unqualified(table) not in fed)
            tables = tuple(table for table in theirs if _has_rows(connection, table))
            for table in tables:
                if _holds_offsets(connection, table, ends):
                    return tables, table
        return tables, None

    def how(self) -> str | None:
        """Return `simple`, `extended` or `prepared`; None if the log has no writes."""
        forms = set()
        for write in self._writes():
            if write["by"] == APPLICATION:
                continue
            form = write["form"]
            unnamed = form.startswith("execute <unnamed>")
            forms.add("simple" if form == "statement" else "extended" if unnamed else "prepared")
        for form in ("prepared", "extended", "simple"):
            if form in forms:
                return form
        return None

    def _feed_tables(self) -> set[str]:
        """Return the tables that only the `--feed` command writes to."""
        by: dict[bool, set[str]] = {True: set(), False: set()}
        for write in self._writes(of=APPLICATION):
            by[write["by"] == APPLICATION].add(_unqualified(write["table"]))
        return by[True] - by[False]

    def _writes(self, of: str = "") -> Iterator[re.Match[str]]:
        """Yield all writes of a log in which the application `of` occurs."""
        with suppress(OSError):
            log = self._log.read_text(errors="replace")
            if of in log:  # much cheaper than matching, and asked often
                yield from _LOGGED.finditer(log)


def user_tables(connection: Connection) -> list[str]:
    """Return the tables that users of the database have created, quoted for SQL."""
    return [str(row[0]) for row in connection.execute(_TABLES).fetchall()]


def _unqualified(table: str) -> str:
    """Return the name of a table without schema and quotes."""
    return table.rpartition(".")[2].strip('"').lower()


def _has_rows(connection: Connection, table: str) -> bool:
    (found,) = connection.execute(
        sql.SQL("SELECT EXISTS (SELECT 1 FROM {})").format(sql.SQL(table))
    )
    return bool(found[0])


def _holds_offsets(connection: Connection, table: str, ends: Positions) -> bool:
    """Return whether a column of a small table holds each partition's last or next offset."""
    name = sql.SQL(table)  # quoted by PostgreSQL itself
    for (column,) in connection.execute(_INTEGERS, [table]).fetchall():
        rows = connection.execute(
            sql.SQL("SELECT {} FROM {} LIMIT {}").format(
                sql.Identifier(str(column)), name, sql.Literal(_MAX_ROWS * len(ends) + 1)
            )
        ).fetchall()
        held = {row[0] for row in rows}
        if (
            ends
            and len(rows) <= _MAX_ROWS * len(ends)
            and all(held & {end, end - 1} for end in ends.values())
        ):
            return True
    return False

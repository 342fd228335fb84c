"""A table of the stage's PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from onceproof.harness.user_pipeline.outputs.base import FoundEffect, as_json
from onceproof.harness.user_pipeline.outputs.kind import OutputKind, any_place

_PLACE = "onceproof_place"


class Table:
    """One table; empty until it is created."""

    def __init__(self, database: str, name: str) -> None:
        """`name` may be `schema.table`; it is case-sensitive."""
        self._database = database
        self._name = name
        self._table = sql.Identifier(*name.split("."))

    def size(self) -> int:
        """Return the sum of the rows' transaction ids, which also changes when a row is updated."""
        found = self._rows(
            sql.SQL("SELECT sum(1 + xmin::text::bigint) AS n FROM {}").format(self._table)
        )
        return int(found[0]["n"] or 0) if found else 0

    def found(self) -> Iterator[FoundEffect]:
        """Yield rows in physical order."""
        query = sql.SQL("SELECT ctid::text AS {}, t.* FROM {} t ORDER BY ctid").format(
            sql.Identifier(_PLACE), self._table
        )
        for row in self._rows(query):
            place = row.pop(_PLACE)
            yield FoundEffect(written=as_json(row), position=f"{self._name} row {place}")

    def hanging(self) -> bool:
        """Return whether another session has uncommitted or prepared changes."""
        return bool(
            self._rows(
                sql.SQL(
                    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() "
                    "AND pid <> pg_backend_pid() AND backend_xid IS NOT NULL "
                    "AND backend_type = 'client backend' "
                    "UNION ALL SELECT 1 FROM pg_prepared_xacts WHERE database = current_database()"
                )
            )
        )

    def _rows(self, query: sql.SQL | sql.Composed) -> list[dict[str, Any]]:
        with psycopg.connect(self._database, row_factory=dict_row) as connection:
            try:
                found: list[dict[str, Any]] = connection.execute(query).fetchall()
                return found
            except psycopg.errors.UndefinedTable:
                return []


OUTPUTS: Final = (
    OutputKind(
        prefix="postgres",
        place="TABLE",
        says="A table of the run's PostgreSQL, as TABLE or SCHEMA.TABLE.",
        views={"table": lambda place, where: Table(where.database, place)},
        check=any_place,
    ),
)

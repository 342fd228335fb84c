"""Rows of the tables as plain dicts, every column there from the start.

A column that nobody fills is None, so that no reader has to ask whether it
is there. `History` checks the rest at its door.
"""

from __future__ import annotations

from typing import Any

from onceproof.checkers.tables import TABLES

Row = dict[str, Any]
Rows = dict[str, list[Row]]
Place = tuple[str, int]
"""A topic and a partition of it."""

_EMPTY: dict[str, Row] = {
    name: dict.fromkeys(column.name for column in table.columns) for name, table in TABLES.items()
}


def new(table: str, **given: Any) -> Row:
    """A row with all its columns; a name that the table does not have is a mistake."""
    row = _EMPTY[table] | given
    assert len(row) == len(_EMPTY[table]), f"{table} has no {given.keys() - _EMPTY[table].keys()}"
    return row


def nothing() -> Rows:
    """All tables, without a row."""
    return {name: [] for name in TABLES}

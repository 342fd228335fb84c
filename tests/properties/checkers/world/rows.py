"""Table rows as plain dicts that have every column.

Unset columns are None. `History` validates everything else.
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
    """A row with all columns; unknown column names fail."""
    row = _EMPTY[table] | given
    assert len(row) == len(_EMPTY[table]), f"{table} has no {given.keys() - _EMPTY[table].keys()}"
    return row


def empty_tables() -> Rows:
    """All tables, empty."""
    return {name: [] for name in TABLES}

"""Check that columns fit the contract, and convert those that nearly do.

A missing nullable column becomes NULL, text may be stored in any way, and unknown columns are
dropped. Everything else is rejected. `where` names the table in messages.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from onceproof.checkers.bad_history import BadHistory
from onceproof.checkers.tables import TABLES, Column

_SQL_TYPES: Final[dict[pa.DataType, str]] = {
    pa.string(): "VARCHAR",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.bool_(): "BOOLEAN",
}


def fitting(name: str, table: pa.Table, where: str) -> pa.Table:
    """Return the table with exactly the columns of the contract.

    Raises:
        BadHistory: a column does not fit.
    """
    columns = []
    for column in TABLES[name].columns:
        if column.name not in table.column_names:
            _check_optional(column, where)
            columns.append(pa.nulls(table.num_rows, column.type))
            continue
        data = table.column(column.name)
        _check_type(column, data.type, where)
        columns.append(data if data.type == column.type else data.cast(column.type))
    return pa.Table.from_arrays(columns, schema=TABLES[name].schema)


def selection(name: str, schema: pa.Schema, where: str) -> str:
    """Return the SELECT list for exactly the columns of the contract.

    Raises:
        BadHistory: a column does not fit.
    """
    selected = []
    for column in TABLES[name].columns:
        type_ = _SQL_TYPES[column.type]
        if column.name not in schema.names:
            _check_optional(column, where)
            selected.append(f'CAST(NULL AS {type_}) AS "{column.name}"')
            continue
        found = schema.field(column.name).type
        _check_type(column, found, where)
        selected.append(
            f'CAST("{column.name}" AS {type_}) AS "{column.name}"'
            if pa.types.is_null(found)
            else f'"{column.name}"'
        )
    return ", ".join(selected)


def _check_optional(column: Column, where: str) -> None:
    if not column.nullable:
        raise BadHistory(
            f"{where} has no column {column.name}: add it, as {column.type}, with a value in every "
            "row."
        )


def _check_type(column: Column, found: pa.DataType, where: str) -> None:
    text = pa.types.is_string(column.type) and (
        pa.types.is_large_string(found)
        or pa.types.is_string_view(found)
        or (pa.types.is_dictionary(found) and pa.types.is_string(found.value_type))
    )
    if found != column.type and not text and not pa.types.is_null(found):
        raise BadHistory(
            f"{where}, column {column.name}: expected {column.type}, found "
            f"{found}. Convert it where the history is written."
        )

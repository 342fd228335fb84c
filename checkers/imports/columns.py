"""Build tables of the contract from columns of plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from onceproof.checkers.tables import TABLES


def table(name: str, rows: int, **columns: Sequence[Any] | pa.Array | str | int | None) -> pa.Table:
    """Build the table `name`. A missing column is NULL, and a single value fills its column."""
    schema = TABLES[name].schema
    return pa.Table.from_arrays(
        [_array(field.type, rows, columns.get(field.name)) for field in schema], schema=schema
    )


def _array(type_: pa.DataType, rows: int, values: Any) -> pa.Array:
    if values is None:
        return pa.nulls(rows, type_)
    if isinstance(values, str | int):
        return pa.repeat(pa.scalar(values, type_), rows)
    if isinstance(values, pa.Array):
        return values.cast(type_)
    return pa.array(values, type_)

"""The witness rows of a finding: what all of them have in common, and what differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from onceproof.reports.model import Row, Value


class Witness(NamedTuple):
    """Witness rows, each value shown once.

    Attributes:
        common: columns with one value in all rows → that value.
        columns: the other columns, in order.
        rows: their values, by row; empty if the rows do not differ.
    """

    common: dict[str, Value]
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]


def witness(rows: Sequence[Row]) -> Witness:
    """Split rows, which have the columns of the first one; raise IndexError if there is none."""
    # By type as well, since 1 == True.
    values = {name: {(type(row.get(name)), row.get(name)) for row in rows} for name in rows[0]}
    columns = tuple(name for name, found in values.items() if len(found) > 1)
    return Witness(
        common={name: rows[0][name] for name in rows[0] if name not in columns},
        columns=columns,
        rows=tuple(tuple(row.get(name) for name in columns) for row in rows) if columns else (),
    )

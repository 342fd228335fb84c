"""Mutations of a table; each takes the table and its target's row, and returns a new table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from onceproof.checkers.mutations.mutator import Row

MARK: Final = "~mutated"
"""Suffix of altered values."""


def where(table: pa.Table, row: Row, columns: Mapping[str, str]) -> list[int]:
    """Return indices of rows with the target's values; `columns` maps table to target columns."""
    masks = [
        pc.is_null(table.column(column))
        if row[name] is None
        else pc.equal(table.column(column), row[name])
        for column, name in columns.items()
    ]
    mask = reduce(pc.and_kleene, masks)
    found: list[int] = pc.indices_nonzero(pc.fill_null(mask, False)).to_pylist()
    return found


def without(table: pa.Table, index: int) -> pa.Table:
    return pa.concat_tables([table.slice(0, index), table.slice(index + 1)])


def altered(table: pa.Table, index: int, **changes: Any) -> pa.Table:
    (row,) = table.slice(index, 1).to_pylist()
    return pa.Table.from_pylist([row | changes], schema=table.schema)


_ENTRY = {name: name for name in ("topic", "partition", "offset", "record")}
_EFFECT = {"sink": "sink", "view": "view", "position": "position"}


def drop_entries(table: pa.Table, row: Row) -> pa.Table:
    mask = pc.and_(
        pc.and_(pc.equal(table["topic"], row["topic"]), table["committed"]),
        pc.fill_null(pc.equal(table["record"], row["record"]), False),
    )
    return table.filter(pc.invert(mask))


def copy_entry(table: pa.Table, row: Row) -> pa.Table:
    (index,) = where(table, row, _ENTRY)
    place = {"topic": "topic", "partition": "partition"}
    last = pc.max(table["offset"].take(where(table, row, place))).as_py()
    return pa.concat_tables([table, altered(table, index, offset=last + 1)])


def alter_entry(table: pa.Table, row: Row) -> pa.Table:
    (index,) = where(table, row, _ENTRY)
    changed = altered(table, index, digest=f"{row['digest']}{MARK}")
    return pa.concat_tables([without(table, index), changed])


def drop_effects(table: pa.Table, row: Row) -> pa.Table:
    """Drop as many effects as it takes to have one too few."""
    columns = {"sink": "sink", "view": "view", "record": "record", "effect_key": "effect_key"}
    if row["in_offset"] >= 0:
        columns |= {"source_partition": "in_partition", "source_offset": "in_offset"}
    for index in reversed(where(table, row, columns)[: row["seen"] - row["due"] + 1]):
        table = without(table, index)
    return table


def drop_from(table: pa.Table, row: Row) -> pa.Table:
    """Drop all effects of a record in one of several sinks."""
    columns = {"sink": "missing_sink", "view": "missing_view", "record": "record"}
    for index in reversed(where(table, row, columns)):
        table = without(table, index)
    return table


def copy_effect(table: pa.Table, row: Row) -> pa.Table:
    """Add as many effects as it takes to have one too many."""
    (index,) = where(table, row, _EFFECT)
    copies = [
        altered(table, index, position=f"{row['position']}{MARK}-{n}")
        for n in range(row["expected"] - row["seen"] + 1)
    ]
    return pa.concat_tables([table, *copies])


def alter_effect(table: pa.Table, row: Row) -> pa.Table:
    (index,) = where(table, row, _EFFECT)
    changed = altered(table, index, digest=f"{row['digest']}{MARK}")
    return pa.concat_tables([without(table, index), changed])


def move_position(table: pa.Table, row: Row) -> pa.Table:
    names = ("owner", "role", "topic", "partition", "ordinal")
    columns = {name: name for name in names} | {"offset": "position", "batch": "batch"}
    index = next(
        i
        for i in where(table, row, columns)
        if table["kind"][i].as_py() == "done" and table["by"][i].as_py() == "subject"
    )
    moved = altered(table, index, offset=row["moved"])
    return pa.concat_tables([without(table, index), moved])


def move_range(table: pa.Table, row: Row) -> pa.Table:
    names = ("owner", "topic", "partition", "batch", "execution", "start_offset")
    index = where(table, row, {name: name for name in names})[0]
    moved = altered(
        table, index, start_offset=row["start_offset"] + 1, end_offset=row["end_offset"] + 1
    )
    return pa.concat_tables([without(table, index), moved])


def uncommit_entry(table: pa.Table, row: Row) -> pa.Table:
    (index,) = where(table, row, _ENTRY)
    return pa.concat_tables([without(table, index), altered(table, index, committed=False)])


def swap_entries(table: pa.Table, row: Row) -> pa.Table:
    (one,) = where(table, row, _ENTRY)
    (other,) = where(
        table, row, {"topic": "topic", "partition": "partition", "offset": "after_offset"}
    )
    swapped = [
        altered(table, one, offset=row["after_offset"]),
        altered(table, other, offset=row["offset"]),
    ]
    for index in sorted((one, other), reverse=True):
        table = without(table, index)
    return pa.concat_tables([table, *swapped])


_READ = {name: name for name in ("reader", "session", "topic", "partition", "ordinal")}


def drop_read(table: pa.Table, row: Row) -> pa.Table:
    (index,) = where(table, row, _READ)
    return without(table, index)


def repeat_read(table: pa.Table, row: Row) -> pa.Table:
    (index,) = where(table, row, _READ | {"ordinal": "first"})
    return pa.concat_tables([table, altered(table, index, ordinal=row["ordinal"])])


def swap_effects(table: pa.Table, row: Row) -> pa.Table:
    """Swap all effects of two input offsets in the sink's order."""
    order = {row["ordinal"]: row["after_ordinal"], row["after_ordinal"]: row["ordinal"]}
    columns = {"sink": "sink", "view": "view", "ordinal": "ordinal"}
    indices = [i for o in order for i in where(table, {**row, "ordinal": o}, columns)]
    swapped = [altered(table, i, ordinal=order[table["ordinal"][i].as_py()]) for i in indices]
    for index in sorted(indices, reverse=True):
        table = without(table, index)
    return pa.concat_tables([table, *swapped])


def alter_state(table: pa.Table, row: Row) -> pa.Table:
    """Change a value of the final state as little as possible."""
    columns = {n: n for n in ("sink", "view", "state_key", "aggregate")}
    (index,) = where(table, row, columns)
    (value,) = table.slice(index, 1).to_pylist()
    changes = (
        {"digest": f"{value['digest']}{MARK}"}
        if value["amount"] is None
        else {"amount": value["amount"] - 1 if value["amount"] > 0 else value["amount"] + 1}
    )
    return pa.concat_tables([without(table, index), altered(table, index, **changes)])

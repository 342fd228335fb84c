"""Mutations of a journal; each takes the table and its target's row, and returns a new table.

If several rows report a change, the first one is mutated.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from onceproof.checkers.mutations.changes import MARK, altered, where, without
from onceproof.checkers.mutations.mutator import Row

_EFFECT = {"sink": "sink", "record": "record", "effect_key": "effect_key"}
_CHANGE = _EFFECT | {"ordinal": "ordinal"}


def drop_changes(table: pa.Table, row: Row) -> pa.Table:
    columns = dict(_EFFECT)
    if row["in_offset"] >= 0:
        columns |= {"source_partition": "in_partition", "source_offset": "in_offset"}
    for index in reversed(where(table, row, columns)):
        if table["operation"][index].as_py() != "delete":
            table = without(table, index)
    return table


def copy_change(table: pa.Table, row: Row) -> pa.Table:
    """Add as many copies of an effect as it takes to have one too many."""
    index = where(table, row, _CHANGE)[0]
    last = pc.max(table["ordinal"]).as_py()
    copies = [
        altered(table, index, operation="append", ordinal=last + 1 + n)
        for n in range(row["expected"] - row["seen"] + 1)
    ]
    return pa.concat_tables([table, *copies])


def alter_change(table: pa.Table, row: Row) -> pa.Table:
    index = where(table, row, _CHANGE)[0]
    changed = altered(table, index, digest=f"{row['digest']}{MARK}")
    return pa.concat_tables([without(table, index), changed])


def swap_changes(table: pa.Table, row: Row) -> pa.Table:
    """Swap the first changes of two input offsets."""
    order = {row["ordinal"]: row["after_ordinal"], row["after_ordinal"]: row["ordinal"]}
    columns = {"sink": "sink", "ordinal": "ordinal"}
    indices = [i for o in order for i in where(table, {**row, "ordinal": o}, columns)]
    swapped = [altered(table, i, ordinal=order[table["ordinal"][i].as_py()]) for i in indices]
    for index in sorted(indices, reverse=True):
        table = without(table, index)
    return pa.concat_tables([table, *swapped])

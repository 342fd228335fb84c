"""The wounds of the self-proof: what to change, where, and what must be found.

The one thing to know: `targets` is a query for rows where the wound can be made; its columns say
which row of the table is meant, and `key` which of them the finding must carry. `applies` is empty
for wounds that always must be possible: without a place for them the run is invalid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from checkers.engines.duckdb import Layer
from checkers.model import Hop, Value

_Row = Mapping[str, Any]
_MARK = "~wounded"


@dataclass(frozen=True, kw_only=True)
class Target:
    """A place for a wound, and the key that its finding must have."""

    row: _Row
    key: Mapping[str, Value]

    @property
    def touches(self) -> frozenset[tuple[str, Value]]:
        """What the wound affects: its record, or the progress of its partition."""
        if self.row.get("record") is not None:
            return frozenset({("record", self.row["record"])})
        return frozenset({("partition", self.row["partition"])})


@dataclass(frozen=True, kw_only=True)
class Wounding:
    """One way to wound a history. Wounds of one `kind` may share a copy."""

    name: str
    hop: Hop
    table: str
    must_find: str
    key: tuple[str, ...]
    targets: str
    wound: Callable[[pa.Table, _Row], pa.Table]
    kind: str
    needs: str | None = None
    """Rows without which there is nothing that this wound could prove; None: always needed."""

    @property
    def of_records(self) -> bool:
        """Whether its targets are records; else they are positions or ranges."""
        return self.table in ("log", "effects")

    def applies(self, layer: Layer) -> bool:
        """Whether this history has what the wound is about."""
        return self.needs is None or bool(layer.rows(f"{self.needs} LIMIT 1"))


def _where(table: pa.Table, row: _Row, columns: Mapping[str, str]) -> list[int]:
    """Indices of the rows whose columns have the target's values."""
    masks = [
        pc.is_null(table.column(column))
        if row[name] is None
        else pc.equal(table.column(column), row[name])
        for column, name in columns.items()
    ]
    mask = reduce(pc.and_kleene, masks)
    found: list[int] = pc.indices_nonzero(pc.fill_null(mask, False)).to_pylist()
    return found


def _without(table: pa.Table, index: int) -> pa.Table:
    return pa.concat_tables([table.slice(0, index), table.slice(index + 1)])


def _with(table: pa.Table, index: int, **changes: Any) -> pa.Table:
    """A copy of one row, changed."""
    (row,) = table.slice(index, 1).to_pylist()
    return pa.Table.from_pylist([row | changes], schema=table.schema)


_ENTRY = {"topic": "topic", "partition": "partition", "offset": "offset"}
_EFFECT = {"sink": "sink", "view": "view", "position": "position"}


def _drop_entries(table: pa.Table, row: _Row) -> pa.Table:
    mask = pc.and_(
        pc.and_(pc.equal(table["topic"], row["topic"]), table["committed"]),
        pc.fill_null(pc.equal(table["record"], row["record"]), False),
    )
    return table.filter(pc.invert(mask))


def _copy_entry(table: pa.Table, row: _Row) -> pa.Table:
    (index,) = _where(table, row, _ENTRY)
    place = {"topic": "topic", "partition": "partition"}
    last = pc.max(table["offset"].take(_where(table, row, place))).as_py()
    return pa.concat_tables([table, _with(table, index, offset=last + 1)])


def _alter_entry(table: pa.Table, row: _Row) -> pa.Table:
    (index,) = _where(table, row, _ENTRY)
    altered = _with(table, index, digest=f"{row['digest']}{_MARK}")
    return pa.concat_tables([_without(table, index), altered])


def _drop_effects(table: pa.Table, row: _Row) -> pa.Table:
    """Drop as many effects as it takes to have one too few."""
    columns = {"sink": "sink", "view": "view", "record": "record", "effect_key": "effect_key"}
    if row["in_offset"] >= 0:
        columns |= {"source_partition": "in_partition", "source_offset": "in_offset"}
    for index in reversed(_where(table, row, columns)[: row["seen"] - row["due"] + 1]):
        table = _without(table, index)
    return table


def _copy_effect(table: pa.Table, row: _Row) -> pa.Table:
    (index,) = _where(table, row, _EFFECT)
    copies = [
        _with(table, index, position=f"{row['position']}{_MARK}-{n}")
        for n in range(row["expected"] - row["seen"] + 1)
    ]
    return pa.concat_tables([table, *copies])


def _alter_effect(table: pa.Table, row: _Row) -> pa.Table:
    (index,) = _where(table, row, _EFFECT)
    altered = _with(table, index, digest=f"{row['digest']}{_MARK}")
    return pa.concat_tables([_without(table, index), altered])


def _move_position(table: pa.Table, row: _Row) -> pa.Table:
    names = ("owner", "role", "topic", "partition", "ordinal")
    columns = {name: name for name in names} | {"offset": "position", "batch": "batch"}
    index = next(
        i
        for i in _where(table, row, columns)
        if table["kind"][i].as_py() == "done" and table["by"][i].as_py() == "subject"
    )
    moved = _with(table, index, offset=row["moved"])
    return pa.concat_tables([_without(table, index), moved])


def _move_range(table: pa.Table, row: _Row) -> pa.Table:
    names = ("owner", "topic", "partition", "batch", "execution", "start_offset")
    index = _where(table, row, {name: name for name in names})[0]
    moved = _with(
        table, index, start_offset=row["start_offset"] + 1, end_offset=row["end_offset"] + 1
    )
    return pa.concat_tables([_without(table, index), moved])


_SCOPED = "CROSS JOIN hop_sink k CROSS JOIN hop_input h"
_SLOT = ("sink", "view", "record", "effect_key")

WOUNDS: Final[tuple[Wounding, ...]] = (
    Wounding(
        name="log entry dropped",
        hop=Hop.PRODUCE,
        table="log",
        must_find="lost-write",
        key=("topic", "record"),
        kind="log",
        wound=_drop_entries,
        targets="""
SELECT DISTINCT a.topic, a.record
FROM attempts a
JOIN committed_input c ON c.record = a.record
LEFT JOIN txns t ON t.txn = a.txn
WHERE a.must AND NOT a.gone AND (a.txn IS NULL OR t.outcome = 'committed')""",
    ),
    Wounding(
        name="log entry copied",
        hop=Hop.PRODUCE,
        table="log",
        must_find="duplicate",
        key=("topic", "record"),
        kind="log",
        wound=_copy_entry,
        targets="""
SELECT c.topic, c.record, c."partition", c."offset"
FROM committed_input c
JOIN record_sends r ON r.record = c.record
WHERE c.attempt IS NOT NULL OR r.unattributed >= r.free""",
    ),
    Wounding(
        name="log entry altered",
        hop=Hop.PRODUCE,
        table="log",
        must_find="corrupt",
        key=("topic", "record"),
        kind="log",
        wound=_alter_entry,
        targets="""
SELECT e.topic, e.record, e."partition", e."offset", e.digest
FROM input_entries e
JOIN record_sends r ON r.record = e.record
WHERE e.committed AND e.digest IS NOT NULL""",
    ),
    Wounding(
        name="effect dropped",
        hop=Hop.PROCESS,
        table="effects",
        must_find="lost-output",
        key=_SLOT,
        kind="effects",
        wound=_drop_effects,
        targets=f"""
SELECT k.sink, k.view, b.record, b.effect_key, b.in_partition, b.in_offset, b.due, b.seen
FROM balance b {_SCOPED}
WHERE b.due > 0 AND b.seen >= b.due""",
    ),
    Wounding(
        name="effect copied",
        hop=Hop.PROCESS,
        table="effects",
        must_find="duplicate-output",
        key=_SLOT,
        kind="effects",
        wound=_copy_effect,
        targets=f"""
SELECT k.sink, k.view, b.record, b.effect_key, b.expected, b.seen, min(e.position) AS position
FROM balance b
JOIN observed_effects e ON e.record = b.record AND e.effect_key = b.effect_key
     AND (b.in_offset < 0
          OR (e.source_partition = b.in_partition AND e.source_offset = b.in_offset))
{_SCOPED}
WHERE b.expected > 0 AND b.seen > 0 AND b.seen <= b.expected
GROUP BY k.sink, k.view, b.record, b.effect_key, b.in_partition, b.in_offset, b.expected, b.seen
""",
    ),
    Wounding(
        name="effect altered",
        hop=Hop.PROCESS,
        table="effects",
        must_find="wrong-output",
        key=_SLOT,
        kind="effects",
        wound=_alter_effect,
        targets=f"""
SELECT k.sink, k.view, e.record, e.effect_key, e.position, e.digest
FROM observed_effects e
JOIN (SELECT DISTINCT record FROM committed_input) c ON c.record = e.record
JOIN yields y ON y.record = e.record AND y.effect_key = e.effect_key
{_SCOPED}""",
    ),
    Wounding(
        name="effect dropped before a resume position",
        hop=Hop.PROCESS,
        table="effects",
        must_find="offset-ahead",
        key=("sink", "view", "owner", "topic", "partition"),
        kind="effects",
        wound=_drop_effects,
        needs="SELECT 1 AS one FROM newest_positions WHERE role = 'resume' AND \"offset\" > 0",
        targets=f"""
SELECT k.sink, k.view, n.owner, n.topic, n."partition", b.record, b.effect_key, b.in_partition,
       b.in_offset, b.due, b.seen
FROM newest_positions n
JOIN effect_inputs i ON i.in_partition = n."partition" AND i.in_offset < n."offset"
JOIN balance b ON b.record = i.record AND b.effect_key = i.effect_key
     AND (b.in_offset < 0 OR (b.in_partition = i.in_partition AND b.in_offset = i.in_offset))
JOIN committed_input c ON c.decidable AND c."partition" = i.in_partition
     AND c."offset" = i.in_offset
{_SCOPED}
WHERE n.role = 'resume' AND b.due > 0 AND b.seen >= b.due""",
    ),
    Wounding(
        name="position set back",
        hop=Hop.PROCESS,
        table="positions",
        must_find="offset-regressed",
        key=("sink", "view", "owner", "role", "topic", "partition", "ordinal"),
        kind="regress",
        wound=_move_position,
        needs="""
SELECT 1 AS one FROM done_positions
WHERE newest AND "by" = 'subject' AND previous > 0""",
        targets=f"""
SELECT k.sink, k.view, d.owner, d.role, d.topic, d."partition", d.ordinal, d.batch,
       d."offset" AS position, d.previous - 1 AS moved
FROM done_positions d {_SCOPED}
WHERE d.newest AND d."by" = 'subject' AND d.previous > 0""",
    ),
    Wounding(
        name="atomic position set back",
        hop=Hop.PROCESS,
        table="positions",
        must_find="offset-behind",
        key=("sink", "view", "owner", "topic", "partition"),
        kind="behind",
        wound=_move_position,
        needs="SELECT 1 AS one FROM newest_positions WHERE role = 'atomic' AND \"offset\" > 0",
        targets=f"""
SELECT k.sink, k.view, n.owner, n.role, n.topic, n."partition", n.ordinal, n.batch,
       n."offset" AS position, max(i.in_offset) AS moved
FROM newest_positions n
JOIN effect_inputs i ON i.in_partition = n."partition" AND i.in_offset < n."offset"
     AND (i.owner = n.owner OR (i.owner IS NULL AND n.furthest))
{_SCOPED}
WHERE n.role = 'atomic'
GROUP BY k.sink, k.view, n.owner, n.role, n.topic, n."partition", n.ordinal, n.batch, n."offset"
""",
    ),
    Wounding(
        name="range shifted",
        hop=Hop.PROCESS,
        table="ranges",
        must_find="offset-gap",
        key=("kind", "sink", "view", "owner", "topic", "partition", "batch"),
        kind="effects",
        wound=_move_range,
        needs="SELECT 1 AS one FROM committed_ranges WHERE start_offset = reached",
        targets=f"""
SELECT 'gap' AS kind, k.sink, k.view, r.owner, r.topic, r."partition", r.batch, r.execution,
       r.start_offset, r.end_offset
FROM committed_ranges r
LEFT JOIN cut_partitions c ON c."partition" = r."partition"
{_SCOPED}
WHERE r.start_offset = r.reached AND r.start_offset >= COALESCE(c.log_start, 0)""",
    ),
)
"""All wounds, in the order in which they are told."""

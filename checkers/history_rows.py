"""Defaults of `History.of` for values that a hand-written row leaves out.

They describe the simplest run: one topic `input` with one partition, one producer, one sink
`ledger`, everything acknowledged and committed, one clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from onceproof.checkers.tables import TABLES

_Default = Callable[[Mapping[str, Any], int], Any]


def _is(value: Any) -> _Default:
    return lambda row, index: value


def _index(row: Mapping[str, Any], index: int) -> int:
    return index


_BY_COLUMN: Final[dict[str, _Default]] = {
    "topic": _is("input"),
    "partition": _is(0),
    "offset": _index,
    "ordinal": _index,
    "clock": _is("clock"),
    "at": _index,
    "called_at": _index,
    "began_at": _index,
    "started_at": _index,
    "session": _is("session"),
    "sink": _is("ledger"),
    "view": _is("table"),
    "effect_key": _is(""),
    "owner": _is("owner"),
    "by": _is("subject"),
    "record": lambda row, index: f"r{index}",
    "detail": _is("seen"),
}
_BY_TABLE: Final[dict[tuple[str, str], _Default]] = {
    ("sends", "attempt"): lambda row, index: f"{row.get('record', f'r{index}')}/{index}",
    ("sends", "digest"): lambda row, index: f"in-{row.get('record', f'r{index}')}",
    ("sends", "outcome"): _is("ok"),
    ("txns", "txn"): lambda row, index: f"t{index}",
    ("txns", "transactional_id"): _is("transactional-id"),
    ("txns", "outcome"): _is("committed"),
    ("log", "kind"): _is("data"),
    ("log", "committed"): _is(True),
    ("partitions", "log_start"): _is(0),
    ("partitions", "last_stable_offset"): _is(0),
    ("partitions", "high_watermark"): lambda row, index: row.get("last_stable_offset", 0),
    ("partitions", "cleanup_policy"): _is("delete"),
    ("reads", "reader"): _is("reader"),
    ("reads", "at"): lambda row, index: 1000 + index,
    ("reads", "isolation"): _is("read_committed"),
    ("staged", "txn"): _is("t0"),
    ("assignments", "reader"): _is("reader"),
    ("assignments", "isolation"): _is("read_committed"),
    ("assignments", "position"): _is(0),
    ("assignments", "from_at"): _index,
    ("contributions", "state_key"): _is("key"),
    ("contributions", "aggregate"): _is("balance"),
    ("contributions", "operation"): _is("sum"),
    ("state", "state_key"): _is("key"),
    ("state", "aggregate"): _is("balance"),
    ("effects", "digest"): lambda row, index: f"out-{row.get('record')}",
    ("effects", "position"): lambda row, index: f"row {index}",
    ("journal", "operation"): _is("append"),
    ("expected", "digest"): lambda row, index: f"out-{row.get('record', f'r{index}')}",
    ("positions", "role"): _is("resume"),
    ("positions", "kind"): _is("done"),
    ("ranges", "execution"): _is("execution"),
    ("ranges", "batch"): _index,
    ("ranges", "committed"): _is(True),
    ("ranges", "source"): _is("progress"),
    ("ranges", "start_offset"): _is(0),
    ("ranges", "end_offset"): _is(0),
    ("instances", "subject"): _is("driver"),
    ("instances", "instance"): lambda row, index: f"driver-{index}",
    ("faults", "fault"): lambda row, index: f"fault-{index}",
    ("faults", "kind"): _is("crash"),
    ("faults", "description"): _is("kill it"),
    ("faults", "required"): _is(True),
    ("faults", "took_effect"): _is(True),
    ("hazards", "hazard"): _is("replayed-batch"),
    ("hazards", "hop"): _is("process"),
    ("phases", "phase"): _is("settle"),
    ("clocks", "writer"): _is("writer"),
    ("clocks", "monotonic_ns"): _index,
    ("clocks", "wall_ns"): _index,
}


def filled(table: str, row: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Return a row with all non-nullable columns; `index` is its index in the table."""
    made = dict(row)
    for column in TABLES[table].columns:
        if column.name in made or column.nullable:
            continue
        default = _BY_TABLE.get((table, column.name)) or _BY_COLUMN.get(column.name)
        if default is not None:
            made[column.name] = default(row, index)
    return made

"""Histories of many shapes, made by queries: what there is much of is different in each.

Each shape is a few SELECTs over `n`, the numbers from 0 to the records that it has. They name the
columns that matter to it; all others are as dull as can be.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Final

import duckdb

from onceproof.checkers.history import History
from onceproof.checkers.tables import TABLES

_TYPES: Final = {"string": "VARCHAR", "int32": "INTEGER", "int64": "BIGINT", "bool": "BOOLEAN"}
_DULL: Final = {
    "topic": "'input'", "partition": "i % 8", "offset": "i // 8", "sink": "'ledger'",
    "view": "'table'", "effect_key": "''", "clock": "'clock'", "record": "'r' || i",
    "attempt": "'r' || i || '/0'", "digest": "'d'", "ordinal": "i", "session": "'p' || i % 5",
    "outcome": "'ok'", "called_at": "2 * i", "returned_at": "2 * i + 1", "kind": "'data'",
    "committed": "TRUE", "isolation": "'read_committed'", "reader": "'c'", "at": "2 * i + 2",
    "position": "'row ' || i", "owner": "'owner'", "execution": "'execution'", "batch": "i",
    "source": "'progress'", "transactional_id": "'t'", "began_at": "2 * i",
    "commit_called_at": "2 * i + 1", "ended_at": "2 * i + 1", "from_at": "0", "operation": "'sum'",
    "state_key": "'k' || i // 10", "aggregate": "'balance'",
}  # fmt: skip
"""What a column is that no shape speaks of; what is not here is not known."""

Columns = dict[str, str]
_EACH: Final = "n, range(11) t(c)"


def _sources(**columns: str) -> Columns:
    return {"source_topic": "'input'", "source_partition": "i % 8", "source_offset": "i // 8"} | (
        columns
    )


_BASE: Final[Mapping[str, tuple[str, Columns]]] = {
    "sends": ("n", {}),
    "log": ("n", {}),
    "effects": ("n", {}),
}
_BATCHES: Final = (
    "n WHERE i % 160 < 8",
    {"start_offset": "i // 8", "end_offset": "i // 8 + 20"},
)
_READ: Final = {"reader": "'c' || c", "session": "'c' || c", "ordinal": "i", "txn": "NULL"}

_TXNS: Final = (
    "n WHERE i % 4 = 0",
    {"txn": "'t' || i // 4", "session": "'p' || i // 4 % 5", "outcome": "'committed'"},
)

SHAPES: Final[Mapping[str, Mapping[str, tuple[str, Columns]]]] = {
    "many readers": {
        **_BASE,
        "reads": (_EACH, _READ),
        "assignments": (f"{_EACH} WHERE i < 8", _READ | {"position": "0"}),
    },
    "readers that skip": {
        **_BASE,
        "reads": (f"{_EACH} WHERE (i // 8 + c) % 3 > 0", _READ),
    },
    "many readers with many sessions": {
        **_BASE,
        "reads": (_EACH, _READ | {"session": "'c' || c || '/' || i // 80"}),
    },
    "many partitions": {
        name: (rows, columns | {"partition": "i // 20", "offset": "i % 20"})
        for name, (rows, columns) in {**_BASE, "reads": ("n", {})}.items()
    },
    "one partition": {
        name: (rows, columns | {"partition": "0", "offset": "i"})
        for name, (rows, columns) in {**_BASE, "reads": ("n", {"session": "'c'"})}.items()
    },
    "many sessions": {
        **_BASE,
        "sends": ("n", {"session": "'p' || i // 80"}),
        "reads": ("n", {"session": "'c' || i // 80"}),
        "assignments": (
            "n WHERE i % 80 < 8",
            {"session": "'c' || i // 80", "position": "i // 8", "until_at": "2 * i + 200"},
        ),
    },
    "many transactions": {
        **_BASE,
        "sends": ("n", {"txn": "'t' || i // 4"}),
        "txns": _TXNS,
        "reads": ("n WHERE i >= 8", {"session": "'c'", "txn": "'t' || i // 4", "record":
                  "'r' || (i - 8)", "attempt": "'r' || (i - 8) || '/0'",
                  "partition": "(i - 8) % 8", "offset": "(i - 8) // 8"}),
    },
    "many transactions without attempts": {
        **_BASE,
        "sends": ("n", {"txn": "'t' || i // 4"}),
        "log": ("n", {"attempt": "NULL"}),
        "txns": _TXNS,
    },
    "much is lost and duplicated, in many batches": {
        **_BASE,
        "effects": ("n, range(2) t(c) WHERE i % 2 = 0", {"batch": "i // 160"}),
        "ranges": _BATCHES,
    },
    "much is lost and duplicated, by position": {
        **_BASE,
        "effects": ("n, range(2) t(c) WHERE i % 2 = 0", _sources(batch="i // 160")),
        "ranges": _BATCHES,
    },
    "one batch is replayed again and again": {
        **_BASE,
        "effects": ("n, range(2) t(c)", _sources()),
        "ranges": (
            "n WHERE i % 160 < 8",
            {"start_offset": "0", "end_offset": "20", "batch": "0"},
        ),
    },
    "all is disordered": {
        "sends": ("n", {"session": "'p'", "key": "'k'"}),
        "log": ("n", {"offset": "i // 8 + 2 - i // 8 % 4", "key": "'k'"}),
        "effects": ("n", {"ordinal": "-i"}),
    },
    "all is sent twice": {
        **_BASE,
        "sends": ("n", {"record": "'r' || i // 2"}),
        "log": ("n", {"record": "'r' || i // 2", "attempt": "NULL"}),
        "effects": ("n", {"record": "'r' || i // 2"}),
    },
    "one key": {
        "sends": ("n", {"key": "'k'"}),
        "log": ("n", {"key": "'k'"}),
        "effects": ("n", _sources()),
        "contributions": ("n", {"state_key": "'k'", "operation": "'last'", "digest": "'d' || i"}),
        "state": ("n WHERE i = 0", {"state_key": "'k'", "digest": "'d0'"}),
    },
    "many keys": {
        **_BASE,
        "contributions": ("n", {"amount": "1"}),
        "state": ("n WHERE i % 10 = 0", {"amount": "11"}),
    },
    "a journal that deletes and comes back": {
        "sends": ("n", {}),
        "log": ("n", {}),
        "journal": (
            "n",
            {"record": "'r' || i // 10", "effect_key": "''", "operation":
             "CASE WHEN i % 2 = 0 THEN 'upsert' ELSE 'delete' END"},
        ),
    },
    "one record, changed again and again": {
        "sends": ("n", {}),
        "log": ("n", {}),
        "journal": (
            "n",
            {"record": "'r0'", "operation":
             "CASE WHEN i % 2 = 0 THEN 'upsert' ELSE 'delete' END"},
        ),
    },
    "positions go back and forth": {
        **_BASE,
        "positions": ("n", {"role": "'resume'", "kind": "'done'", "by": "'subject'",
                            "offset": "i // 8 + 2 - i // 8 % 4"}),
        "ranges": _BATCHES,
    },
}  # fmt: skip


def history(shape: str, records: int) -> History:
    """A history of a shape, collected to the end."""
    with closing(duckdb.connect()) as database:
        database.execute(f"CREATE TABLE n AS SELECT range AS i FROM range({records})")
        tables = {
            name: database.sql(_select(name, rows, columns)).to_arrow_table()
            for name, (rows, columns) in SHAPES[shape].items()
        }
    phases = [{"phase": phase, "outcome": "ok"} for phase in ("settle", "collect")]
    return History({**tables, "phases": History.of(phases=phases)["phases"]})


def _select(table: str, rows: str, columns: Columns) -> str:
    known = _DULL | columns
    made = ", ".join(
        f'CAST({known.get(c.name, "NULL")} AS {_TYPES[str(c.type)]}) AS "{c.name}"'
        for c in TABLES[table].columns
    )
    return f"SELECT {made} FROM {rows}"

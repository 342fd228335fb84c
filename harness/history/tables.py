"""Convert the JSON lines of a run to the typed tables that checkers read.

A call without a return has the outcome `info`. Phases, faults, instances and transactions are
written again when they change; the last row counts. Only the last line of a file may be cut short
by a crash; it is reported. A damaged line elsewhere is an error that names it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from onceproof.checkers.regular import open_regular
from onceproof.checkers.tables import TABLES

_IDENTITY = {"phases": "phase", "faults": "fault", "instances": "instance", "txns": "txn"}
"""Tables whose rows are written again when they change, and the column that identifies a row."""
_NOT_TABLES = frozenset({"called", "returned", "progress", "delivered", "written", "dropped"})
_NEEDED = {
    "called": ("attempt",),
    "returned": ("attempt",),
    **{table: (identity,) for table, identity in _IDENTITY.items()},
}
"""Fields by which lines are joined."""


_HARNESS_FILES: Final = frozenset({"auditor.jsonl", "harness.jsonl", "workload.jsonl"})
"""Files that are closed before the collect phase ends with `ok`. If one has a line cut short all
the same, an unknown number of lines is lost. Writers of other files may be killed by SIGKILL."""


_LONGEST: Final = 64 * 2**20
"""Maximum bytes of a line."""


class DamagedHistory(ValueError):
    """A history file is damaged; the text names the file, the line and what was expected."""


@dataclass(kw_only=True)
class Recorded:
    """The tables of a run, made from its lines."""

    tables: dict[str, pa.Table]
    cut_short: tuple[str, ...] = ()
    """Files whose last line was cut short."""
    lines: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Rows by kind, as written."""


def read_lines(folder: Path) -> Recorded:
    """Read every `*.jsonl` of a history folder.

    Raises:
        DamagedHistory: a line before the last is damaged, or a row does not fit its table.
    """
    rows: dict[str, list[dict[str, Any]]] = {}
    cut_short: list[str] = []
    for path in sorted(folder.glob("*.jsonl")):
        for row in _rows(path, cut_short):
            rows.setdefault(row.pop("t"), []).append(row)
    for name in sorted(_HARNESS_FILES.intersection(cut_short)):
        for phase in rows.get("phases", []):
            if (phase.get("phase"), phase.get("outcome")) == ("collect", "ok"):
                phase.update(outcome="failed", detail=f"the last line of {name} was cut short")
    tables = {name: _table(name, _merged(name, rows.get(name, []))) for name in TABLES}
    tables["sends"] = _table("sends", [*rows.get("sends", []), *_sends(rows)])
    return Recorded(tables=tables, cut_short=tuple(cut_short), lines=rows)


def _rows(path: Path, cut_short: list[str]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(_complete_lines(path, cut_short), 1):
        shown = line[:80].rstrip(b"\n")
        try:
            row = json.loads(line)
            kind = row["t"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise DamagedHistory(
                f"{path}, line {number}: expected a JSON object with a field `t`, found "
                f"{shown!r}. Only the last line of a file may be cut short; restore the file."
            ) from None
        if not isinstance(kind, str) or not (kind in TABLES or kind in _NOT_TABLES):
            raise DamagedHistory(
                f"{path}, line {number}: unknown `t` {kind!r}, expected one of "
                f"{', '.join(sorted([*TABLES, *_NOT_TABLES]))}"
            )
        for name in _NEEDED.get(kind, ()):
            if not isinstance(row.get(name), str):
                raise DamagedHistory(
                    f"{path}, line {number}: a line of kind {kind} needs a field `{name}` that is "
                    f"a string, found {shown!r}"
                )
        yield row


def _complete_lines(path: Path, cut_short: list[str]) -> Iterator[bytes]:
    """Yield the lines of a file, except a last one that was cut short."""
    with open_regular(path, path.parent) as file:
        number = 0
        while line := file.readline(_LONGEST + 1):
            number += 1
            if len(line) > _LONGEST:
                raise DamagedHistory(
                    f"{path}, line {number} is longer than the limit of {_LONGEST} bytes; restore "
                    "the file."
                )
            if not line.endswith(b"\n"):
                cut_short.append(path.name)
                return
            yield line


def _merged(name: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    identity = _IDENTITY.get(name)
    if identity is None:
        return rows
    last: dict[str, dict[str, Any]] = {}
    for row in rows:
        last[row[identity]] = row
    return list(last.values())


def _sends(rows: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    returned = {row["attempt"]: row for row in rows.get("returned", [])}
    sends = []
    for call in rows.get("called", []):
        outcome = returned.get(call["attempt"], {"outcome": "info"})
        sends.append(call | outcome)
    return sends


def _table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    schema = TABLES[name].schema
    integers = [field.name for field in schema if pa.types.is_integer(field.type)]
    for row in rows:
        for column in integers:
            if isinstance(row.get(column), float):  # Arrow would truncate it silently
                raise DamagedHistory(
                    f"table {name}: column {column} is {row[column]}, expected a whole number"
                )
    try:
        table = pa.Table.from_pylist(rows, schema=schema)
    except (pa.ArrowException, OverflowError, UnicodeError) as error:
        raise DamagedHistory(f"table {name}: a row does not match the schema: {error}") from None
    for column in schema:
        if not column.nullable and table.column(column.name).null_count:
            raise DamagedHistory(f"table {name}: column {column.name} is missing in some row")
    return table

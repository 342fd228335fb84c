"""Read tables from JSON Lines, the simplest format for other languages to write.

One line is one row. A folder has one file per table, `sends.jsonl`, `log.jsonl`, …, or one file has
all tables, and a field `t` names the table of each line:

    {"t": "sends", "attempt": "a/1", "record": "a", "outcome": "ok", "called_at": 1, …}

Fields are the columns of `checkers.tables`. Nullable ones may be `null` or omitted. Nothing is
converted: `"7"` is not a number and `7.0` is not an integer. An unknown field is an error, because
a misspelt one would silently be NULL.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from onceproof.checkers.engines.validation import UNIQUE, WORDS
from onceproof.checkers.history import History
from onceproof.checkers.imports.errors import BadImport, closest, shown
from onceproof.checkers.imports.imported import Imported
from onceproof.checkers.tables import TABLES, Column

__all__ = ["read_jsonl"]

_CHUNK_ROWS: Final = 50_000
"""Lines per batch, to limit memory."""
_TABLE: Final = "t"
_KINDS: Final[dict[pa.DataType, tuple[type, str]]] = {
    pa.string(): (str, "a string"),
    pa.int32(): (int, "an integer from -2^31 to 2^31-1"),
    pa.int64(): (int, "an integer from -2^63 to 2^63-1"),
    pa.bool_(): (bool, "true or false"),
}
_Row = tuple[int, dict[str, Any]]


def read_jsonl(path: str | Path) -> Imported:
    """Read a folder of `<table>.jsonl`, or one file whose lines name their table.

    Raises:
        BadImport: a file cannot be read, or a line is not a row of its table.
    """
    path = Path(path)
    tables: dict[str, _Table] = {}
    try:
        if path.is_dir():
            for name, file in _files(path):
                tables[name] = _Table(name, file)
                tables[name].take(_lines(file))
        else:
            for chunk in _chunks(_lines(path)):
                for name, rows in _by_table(chunk, path).items():
                    tables.setdefault(name, _Table(name, path)).take(rows)
    except OSError as error:
        where = error.filename or path
        raise BadImport(where, f"cannot read the file: {error.strerror}.") from None
    found = {name: table.table() for name, table in tables.items()}
    return Imported(history=History(found, source=str(path)))


class _Table:
    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path
        self._columns = TABLES[name].columns
        self._batches: list[pa.RecordBatch] = []
        self._lines: list[int] = []

    def take(self, rows: Iterable[_Row]) -> None:
        """Add rows, each with its line number."""
        for chunk in _chunks(rows):
            lines = [line for line, _ in chunk]
            objects = [row for _, row in chunk]
            met = self._fields(lines, objects)
            arrays = [
                pa.nulls(len(chunk), column.type)
                if column.nullable and column.name not in met
                else self._array(column, lines, objects)
                for column in self._columns
            ]
            self._batches.append(pa.record_batch(arrays, schema=TABLES[self.name].schema))
            self._lines += lines

    def table(self) -> pa.Table:
        table = pa.Table.from_batches(self._batches, schema=TABLES[self.name].schema)
        unique = list(UNIQUE.get(self.name, ()))
        if unique and table.group_by(unique).aggregate([]).num_rows < table.num_rows:
            self._raise_duplicate(table.select(unique))
        return table

    def _raise_duplicate(self, keys: pa.Table) -> None:
        """Report the second row with the same key, and the line of the first."""
        unique = keys.column_names
        seen: dict[tuple[Any, ...], int] = {}
        columns = [column.to_pylist() for column in keys.columns]
        for line, key in zip(self._lines, zip(*columns, strict=True), strict=True):
            if (first := seen.setdefault(key, line)) != line:
                named = ", ".join(f"{n} {shown(k)}" for n, k in zip(unique, key, strict=True))
                raise BadImport(
                    self.path,
                    f"expected one row for {named}, found another in line {first}. Remove the "
                    "duplicate.",
                    line=line,
                    field=unique[-1],
                )

    def _fields(self, lines: list[int], rows: list[dict[str, Any]]) -> set[str]:
        known = {column.name for column in self._columns}
        met: set[str] = set()
        for row in rows:
            met.update(row)
        if unknown := met - known:
            line, name = next(
                (line, name)
                for line, row in zip(lines, rows, strict=True)
                for name in row
                if name in unknown
            )
            raise BadImport(
                self.path,
                f"expected a column of table {self.name}, found an unknown "
                f"name.{closest(name, known)} The columns are {', '.join(sorted(known))}.",
                line=line,
                field=shown(name),
            )
        return met

    def _array(self, column: Column, lines: list[int], rows: list[dict[str, Any]]) -> pa.Array:
        name = column.name
        values = [row.get(name) for row in rows]
        kinds = set(map(type, values))
        kind = _KINDS[column.type][0]
        allowed = WORDS.get(self.name, {}).get(name)
        if kinds <= {kind, type(None)} and (column.nullable or type(None) not in kinds):
            try:
                array = pa.array(values, column.type)
            except (pa.ArrowException, ValueError, OverflowError):
                pass  # out of range, or half a surrogate pair; found below
            else:
                if allowed is None or set(values) <= allowed | {None}:
                    return array
        for line, row in zip(lines, rows, strict=True):
            if problem := _problem(column, row, allowed):
                raise BadImport(self.path, problem, line=line, field=name)
        raise BadImport(self.path, f"expected {column.type}, found something else", field=name)


def _problem(column: Column, row: dict[str, Any], allowed: frozenset[str] | None) -> str | None:
    kind, words = _KINDS[column.type]
    if allowed is not None:
        words = f"one of {', '.join(sorted(allowed))}"
    value: Any = row.get(column.name)
    if value is None:
        if column.nullable:
            return None
        found = "null" if column.name in row else "no such field"
        meaning = f" ({column.meaning})" if column.meaning else ""
        return f"expected {words} in every row, found {found}.{meaning}"
    hint = ""
    if allowed is not None:
        if isinstance(value, str) and value in allowed:
            return None
        hint = closest(str(value), allowed)
    elif type(value) is kind:
        try:
            pa.scalar(value, column.type)
            return None
        except UnicodeEncodeError:
            words = "valid Unicode, without unpaired surrogates"
        except (pa.ArrowException, ValueError, OverflowError):
            pass  # out of range; `words` names the range
    return f"expected {words}{' or null' if column.nullable else ''}, found {_json(value)}.{hint}"


def _json(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    return shown(value)


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for file in sorted(folder.glob("*.jsonl")):
        if file.stem not in TABLES:
            raise BadImport(
                file,
                f"expected the name of a table, found {shown(file.stem)}."
                f"{closest(file.stem, TABLES)} The tables are {', '.join(TABLES)}.",
            )
        yield file.stem, file


def _by_table(rows: list[_Row], path: Path) -> dict[str, list[_Row]]:
    found: dict[str, list[_Row]] = {}
    for line, row in rows:
        name = row.pop(_TABLE, None)
        if not isinstance(name, str) or name not in TABLES:
            value = _json(name) if name is not None else "no such field"
            hint = closest(name, TABLES) if isinstance(name, str) else ""
            raise BadImport(
                path,
                f"expected the name of a table, found {value}.{hint} The tables are "
                f"{', '.join(TABLES)}.",
                line=line,
                field=_TABLE,
            )
        found.setdefault(name, []).append((line, row))
    return found


def _lines(path: Path) -> Iterator[_Row]:
    decode = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant).decode
    with path.open("rb") as file:
        for line, raw in enumerate(file, 1):
            column = None
            try:
                text = raw.decode()
                if line == 1:
                    text = text.removeprefix("\ufeff")
                if text.isspace() or not text:
                    continue
                row = decode(text)
                if type(row) is dict:
                    yield line, row
                    continue
                problem = f"expected a JSON object, found {_json(row)}"
            except UnicodeDecodeError as error:
                column = error.start + 1
                problem = f"expected UTF-8, found byte {raw[error.start]:#04x}"
            except json.JSONDecodeError as error:
                column = error.colno
                problem = f"expected JSON, found {shown(error.doc[error.pos :][:20].strip())}"
                if error.pos >= len(error.doc.rstrip()):
                    problem = "expected the rest of an object, found the end of the line"
            except _Bad as error:
                problem = str(error)
            except RecursionError:
                problem = "expected a flat object, found one that is nested too deeply"
            except ValueError:  # Python limits integers to some thousand digits
                problem = "expected numbers with fewer digits"
            raise BadImport(path, f"{problem}.", line=line, column=column)


class _Bad(Exception):
    """Valid JSON that is not accepted."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise _Bad(f"expected each field once, found {shown(twice)} twice")
    return row


def _constant(name: str) -> Any:
    raise _Bad(f"expected a number or null, found {name}")


def _chunks(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    rows = iter(rows)
    while chunk := list(islice(rows, _CHUNK_ROWS)):
        yield chunk

"""A history: the typed tables of one run, checked once at the door.

The one thing to know: whatever is inside a `History` fits `checkers.tables`, so that no query has
to ask whether a column is there, has its type, or holds NULL where nothing may be unknown. Tables
that are missing are empty and named in `missing`; columns that the contract does not know are left
out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from checkers.history_rows import filled
from checkers.tables import TABLES, Column

_VALUES: Final[dict[tuple[str, str], frozenset[str]]] = {
    ("sends", "outcome"): frozenset({"ok", "fail", "info"}),
    ("txns", "outcome"): frozenset({"committed", "aborted", "info"}),
    ("log", "kind"): frozenset({"data", "commit", "abort"}),
    ("positions", "role"): frozenset({"atomic", "resume", "advisory"}),
    ("positions", "kind"): frozenset({"planned", "done"}),
    ("positions", "by"): frozenset({"subject", "harness"}),
    ("hazards", "hop"): frozenset({"produce", "process"}),
    ("phases", "outcome"): frozenset({"ok", "failed", "stalled", "interrupted"}),
}
"""Columns whose words the queries rely on: `OK` instead of `ok` would be judged wrongly."""

_UNIQUE: Final[dict[str, tuple[str, ...]]] = {
    "sends": ("attempt",),
    "txns": ("txn",),
    "log": ("topic", "partition", "offset"),
    "partitions": ("topic", "partition"),
}
"""What names one row: twice the same would be counted as a duplicate that never was."""


class BadHistory(ValueError):
    """A history that cannot be judged as it is; the text says where, what, and what to do."""


class History(Mapping[str, pa.Table]):
    """Table name → Arrow table, each exactly as `checkers.tables` has it. Never changed."""

    def __init__(self, tables: Mapping[str, pa.Table], *, source: str = "history") -> None:
        """Check and take over tables.

        Args:
            tables: by name; missing ones are empty.
            source: the folder, or another word for where it is from, for error messages.

        Raises:
            BadHistory: a table does not fit the contract.
        """
        if unknown := sorted(tables.keys() - TABLES.keys()):
            raise BadHistory(
                f"{source}: there is no table {unknown[0]}; expected are {', '.join(TABLES)}. "
                "Rename or remove it."
            )
        self.source = source
        self.missing: tuple[str, ...] = tuple(n for n in TABLES if n not in tables)
        self._tables = {
            name: _fitting(name, tables[name], source)
            if name in tables
            else table.schema.empty_table()
            for name, table in TABLES.items()
        }

    @classmethod
    def load(cls, folder: str | Path) -> History:
        """Read `<table>.parquet` for every table of the contract.

        Raises:
            BadHistory: the folder or a file cannot be read, or a table does not fit.
        """
        folder = Path(folder)
        if not folder.is_dir():
            raise BadHistory(
                f"{folder}: there is no such folder; expected is one with "
                "sends.parquet, log.parquet, … Give the folder `history` of a run."
            )
        tables = {}
        for name in TABLES:
            path = folder / f"{name}.parquet"
            if path.exists():
                try:
                    tables[name] = pq.read_table(path)
                except (OSError, pa.ArrowException) as error:
                    raise BadHistory(
                        f"{path}: expected a Parquet file: {error}. Restore it or run again."
                    ) from None
        return cls(tables, source=str(folder))

    @classmethod
    def of(cls, **rows: Iterable[Mapping[str, Any]]) -> History:
        """A history from rows, with what is not given filled in sensibly; meant for tests.

        Nullable columns that are not given are NULL. `History.of(sends=[{"record": "a"}])`.

        Raises:
            BadHistory: a row does not fit its table.
        """
        tables = {}
        for name, given in rows.items():
            if name not in TABLES:
                raise BadHistory(f"there is no table {name}; expected are {', '.join(TABLES)}")
            schema = TABLES[name].schema
            made = [filled(name, row, index) for index, row in enumerate(given)]
            for row in made:
                if unknown := sorted(row.keys() - set(schema.names)):
                    raise BadHistory(
                        f"{name}: there is no column {unknown[0]}; "
                        f"expected are {', '.join(schema.names)}"
                    )
            try:
                tables[name] = pa.Table.from_pylist(made, schema=schema)
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                raise BadHistory(f"{name}: a row does not fit its columns: {error}") from None
        return cls(tables)

    def save(self, folder: str | Path) -> None:
        """Write every table as `<table>.parquet`."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in self._tables.items():
            pq.write_table(table, folder / f"{name}.parquet")

    def replace(self, table: str, rows: pa.Table) -> History:
        """This history with one table in place of another.

        Raises:
            BadHistory: it does not fit.
        """
        kept = {n: t for n, t in self._tables.items() if n not in self.missing}
        return History({**kept, table: rows}, source=self.source)

    def __getitem__(self, name: str) -> pa.Table:
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        filled_ones = ", ".join(f"{n}: {t.num_rows}" for n, t in self.items() if t.num_rows)
        return f"<History of {self.source}: {filled_ones or 'empty'}>"


def _fitting(name: str, table: pa.Table, source: str) -> pa.Table:
    where = f"{source}: {name}.parquet"
    columns = []
    for column in TABLES[name].columns:
        if column.name not in table.column_names:
            raise BadHistory(
                f"{where} has no column {column.name}; expected is {column.type}. "
                "Write it, with NULL where it is not known"
                + ("." if column.nullable else " — but this one must be known in every row.")
            )
        columns.append(_column(where, name, column, table.column(column.name)))
    fitted = pa.Table.from_arrays(columns, schema=TABLES[name].schema)
    if (unique := _UNIQUE.get(name)) and fitted.num_rows:
        counts = fitted.group_by(list(unique)).aggregate([([], "count_all")])
        if counts.num_rows != fitted.num_rows:
            twice = counts.filter(pc.greater(counts["count_all"], 1)).slice(0, 1).to_pylist()[0]
            raise BadHistory(
                f"{where} has {twice.pop('count_all')} rows for {twice}; expected is one. "
                "Remove what was written twice."
            )
    return fitted


def _column(where: str, table: str, column: Column, data: pa.ChunkedArray) -> pa.ChunkedArray:
    if data.type != column.type:
        text = pa.types.is_string(column.type) and (
            pa.types.is_large_string(data.type)
            or pa.types.is_string_view(data.type)
            or (pa.types.is_dictionary(data.type) and pa.types.is_string(data.type.value_type))
        )
        if not text and not (pa.types.is_null(data.type)):
            raise BadHistory(
                f"{where}, column {column.name}: expected {column.type}, found {data.type}. "
                "Convert it where the history is written."
            )
        data = data.cast(column.type)
    if data.null_count and not column.nullable:
        raise BadHistory(
            f"{where}, column {column.name}: expected a value in every row, found "
            f"{data.null_count} NULL. Write it, or leave out the rows that are not known."
        )
    if allowed := _VALUES.get((table, column.name)):
        for value in pc.unique(data).to_pylist():
            if value is not None and value not in allowed:
                raise BadHistory(
                    f"{where}, column {column.name}: expected one of "
                    f"{', '.join(sorted(allowed))}, found {value!r}. Use these words."
                )
    return data

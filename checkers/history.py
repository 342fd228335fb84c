"""A history: the typed tables of one run.

Loading checks that the columns fit `checkers.tables`, but reads no rows. The engine that opens the
history validates the contents, so queries can rely on them. Missing tables are empty and listed in
`missing`. Unknown columns are dropped, and missing nullable columns are NULL.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from onceproof.checkers.bad_history import BadHistory
from onceproof.checkers.fitting import fitting, selection
from onceproof.checkers.folders import Folder, Parquet, is_uri
from onceproof.checkers.history_rows import filled
from onceproof.checkers.local_folder import LocalFolder, distinct
from onceproof.checkers.tables import TABLES

__all__ = ["BadHistory", "History", "TableStore"]


class TableStore(Protocol):
    """A place for tables where queries find them."""

    def put(self, name: str, table: pa.Table) -> None: ...

    def attach(self, name: str, place: str, columns: str) -> None:
        """Add the Parquet data at `place`, a path or URI, without loading it."""


@dataclass(frozen=True)
class _Stored:
    """A table that is still in its file, and the SELECT list for it."""

    file: Parquet
    columns: str


class History(Mapping[str, pa.Table]):
    """An immutable mapping of table name → Arrow table, with the columns of `checkers.tables`."""

    def __init__(self, tables: Mapping[str, pa.Table], *, source: str = "history") -> None:
        """Create a history; missing tables are empty, and `source` names it in error messages.

        Raises:
            BadHistory: the columns of a table do not fit the contract.
        """
        if unknown := sorted(tables.keys() - TABLES.keys()):
            raise BadHistory(
                f"{source}: unknown table {unknown[0]}: expected one of {', '.join(TABLES)}. "
                "Rename or remove it."
            )
        self.source = source
        self.missing: tuple[str, ...] = tuple(n for n in TABLES if n not in tables)
        self._stored: dict[str, _Stored] = {}
        self._labels: dict[str, str] = {}
        self._tables = {n: fitting(n, table, self.where(n)) for n, table in tables.items()}

    @classmethod
    def load(cls, folder: str | Path | Folder) -> History:
        """Open `<table>.parquet` for every table of the contract, reading only the file footers.

        For a URI, pass the folder that `checkers.engines.places.open_folder` returns.

        Raises:
            BadHistory: the folder or a file cannot be read, or the columns of a table do not fit.
        """
        if isinstance(folder, str) and is_uri(folder):
            raise BadHistory(
                f"{folder}: expected a local path. Open a URI with "
                "onceproof.checkers.engines.places.open_folder and pass the folder that it returns."
            )
        if isinstance(folder, str | Path):
            folder = LocalFolder(Path(folder))
        history = cls({}, source=folder.place)
        there = folder.names()
        for name in TABLES:
            if f"{name}.parquet" in there:
                file = folder.parquet(f"{name}.parquet")
                where = f"{folder.place}: {name}.parquet"
                history._stored[name] = _Stored(file, selection(name, file.schema, where))
        history.missing = tuple(n for n in TABLES if n not in history._stored)
        return history

    @classmethod
    def of(cls, **rows: Iterable[Mapping[str, Any]]) -> History:
        """Build a history from rows, with defaults for missing values; meant for tests.

        Raises:
            BadHistory: a row does not fit its table.
        """
        tables = {}
        for name, given in rows.items():
            if name not in TABLES:
                raise BadHistory(f"unknown table {name}: expected one of {', '.join(TABLES)}")
            schema = TABLES[name].schema
            made = [filled(name, row, index) for index, row in enumerate(given)]
            for row in made:
                if unknown := sorted(row.keys() - set(schema.names)):
                    raise BadHistory(
                        f"{name}: unknown column {unknown[0]}: expected one of "
                        f"{', '.join(schema.names)}"
                    )
            try:
                tables[name] = pa.Table.from_pylist(made, schema=schema)
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                raise BadHistory(f"{name}: a row does not fit its columns: {error}") from None
        return cls(tables)

    def save(self, folder: str | Path) -> None:
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in self.items():
            pq.write_table(table, folder / f"{name}.parquet")

    def moved(self, folder: Path) -> History:
        """Write the tables to a folder and return the same history backed by those files."""
        for name in TABLES:
            if name not in self.missing:
                pq.write_table(self[name], folder / f"{name}.parquet")
        moved = History.load(folder)
        moved.source, moved._labels = self.source, {name: self.where(name) for name in TABLES}
        return moved

    def replace(self, table: str, rows: pa.Table) -> History:
        """Return a copy with one table replaced.

        Raises:
            BadHistory: the new table does not fit the contract.
        """
        kept = {n: self[n] for n in TABLES if n not in self.missing}
        return History({**kept, table: rows}, source=self.source)

    def where(self, name: str) -> str:
        if name in self._labels:
            return self._labels[name]
        label = f"{name}.parquet" if name in self._stored else f"table {name}"
        return f"{self.source}: {label}"

    def rows(self, name: str) -> int:
        if name in self._stored and name not in self._tables:
            return self._stored[name].file.rows
        return int(self[name].num_rows)

    def full(self, name: str) -> frozenset[str]:
        """Return the columns known to hold no NULL, without reading rows of a stored table."""
        if name in self._stored:
            return self._stored[name].file.full
        table = self[name]
        return frozenset(n for n in table.column_names if not table.column(n).null_count)

    def distinct(
        self, name: str, columns: Sequence[str], *, where_known: str | None = None
    ) -> set[tuple[Any, ...]]:
        """Return the distinct values of these columns where `where_known` is not NULL."""
        if name in self._stored and name not in self._tables:
            found = self._stored[name].file.distinct(columns, where_known)
            if found is not None:
                return found
        return distinct(iter([self[name]]), columns, where_known)

    def check_readable(self) -> None:
        """Read every file to its end.

        Raises:
            BadHistory: a file cannot be read; the message names it.
        """
        for stored in self._stored.values():
            stored.file.check()

    def put_into(self, shelf: TableStore) -> None:
        for name in TABLES:
            if self.rows(name) and name in self._stored:
                stored = self._stored[name]
                shelf.attach(name, stored.file.place, stored.columns)
            else:
                shelf.put(name, self[name])

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._tables:
            if name in self._stored:
                table = self._stored[name].file.table()
                self._tables[name] = fitting(name, table, self.where(name))
            else:
                self._tables[name] = TABLES[name].schema.empty_table()
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(TABLES)

    def __len__(self) -> int:
        return len(TABLES)

    def __repr__(self) -> str:
        filled_ones = ", ".join(f"{n}: {self.rows(n)}" for n in self if self.rows(n))
        return f"<History of {self.source}: {filled_ones or 'empty'}>"

"""A history: the typed tables of one run.

A history knows where its tables are and that their columns fit
`checkers.tables`; it loads none of them before somebody asks. What is in the columns is checked
by the engine that opens it, once, so that no query has to ask whether a word is known, a row came
twice, or NULL stands where nothing may be unknown. Tables that are missing are empty and named in
`missing`; columns that the contract does not know are left out, and a nullable one that is missing
is NULL.
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

__all__ = ["BadHistory", "History", "Shelf"]


class Shelf(Protocol):
    """Where tables are put for queries to find."""

    def put(self, name: str, table: pa.Table) -> None:
        """Put a table there."""

    def attach(self, name: str, place: str, columns: str) -> None:
        """Put the Parquet data at a place there."""


@dataclass(frozen=True)
class _Stored:
    """A table that is still where it lies."""

    file: Parquet
    columns: str
    """What an engine has to select from it."""


class History(Mapping[str, pa.Table]):
    """Table name → Arrow table, each exactly as `checkers.tables` has it. Never changed."""

    def __init__(self, tables: Mapping[str, pa.Table], *, source: str = "history") -> None:
        """Take over tables.

        Args:
            tables: by name; missing ones are empty.
            source: the folder, or another word for where it is from, for error messages.

        Raises:
            BadHistory: the columns of a table do not fit the contract.
        """
        if unknown := sorted(tables.keys() - TABLES.keys()):
            raise BadHistory(
                f"{source}: there is no table {unknown[0]}; expected are {', '.join(TABLES)}. "
                "Rename or remove it."
            )
        self.source = source
        self.missing: tuple[str, ...] = tuple(n for n in TABLES if n not in tables)
        self._stored: dict[str, _Stored] = {}
        self._called: dict[str, str] = {}
        self._tables = {n: fitting(n, table, self.where(n)) for n, table in tables.items()}

    @classmethod
    def load(cls, folder: str | Path | Folder) -> History:
        """`<table>.parquet` for every table of the contract; nothing is read but the files' ends.

        Args:
            folder: a local path, or what `checkers.engines.places.open_folder` gives for a URI.

        Raises:
            BadHistory: the folder or a file cannot be read, or the columns of a table do not fit.
        """
        if isinstance(folder, str) and is_uri(folder):
            raise BadHistory(
                f"{folder}: expected a local path. Open a URI with "
                "onceproof.checkers.engines.places.open_folder, and give what that gives."
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
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in self.items():
            pq.write_table(table, folder / f"{name}.parquet")

    def moved(self, folder: Path) -> History:
        """The same history with its tables in files of a folder: memory holds none of them."""
        for name in TABLES:
            if name not in self.missing:
                pq.write_table(self[name], folder / f"{name}.parquet")
        moved = History.load(folder)
        moved.source, moved._called = self.source, {name: self.where(name) for name in TABLES}
        return moved

    def replace(self, table: str, rows: pa.Table) -> History:
        """This history with one table in place of another.

        Raises:
            BadHistory: it does not fit.
        """
        kept = {n: self[n] for n in TABLES if n not in self.missing}
        return History({**kept, table: rows}, source=self.source)

    def where(self, name: str) -> str:
        """Where a table came from and what it is called there, for error messages."""
        if name in self._called:
            return self._called[name]
        called = f"{name}.parquet" if name in self._stored else f"table {name}"
        return f"{self.source}: {called}"

    def rows(self, name: str) -> int:
        if name in self._stored and name not in self._tables:
            return self._stored[name].file.rows
        return int(self[name].num_rows)

    def full(self, name: str) -> frozenset[str]:
        """Columns of a table of which it is known, without a look, that they hold no NULL."""
        if name in self._stored:
            return self._stored[name].file.full
        table = self[name]
        return frozenset(n for n in table.column_names if not table.column(n).null_count)

    def distinct(
        self, name: str, columns: Sequence[str], *, where_known: str | None = None
    ) -> set[tuple[Any, ...]]:
        """The values that columns of a table have together; what lies in a file is not kept.

        Args:
            where_known: only rows in which this column is not NULL.
        """
        if name in self._stored and name not in self._tables:
            found = self._stored[name].file.distinct(columns, where_known)
            if found is not None:
                return found
        return distinct(iter([self[name]]), columns, where_known)

    def check_readable(self) -> None:
        """Read every file to its end.

        Raises:
            BadHistory: one of them cannot be read; the text names it.
        """
        for stored in self._stored.values():
            stored.file.check()

    def put_into(self, shelf: Shelf) -> None:
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

"""A history: the typed tables of one run.

The one thing to know: a history knows where its tables are and that their columns fit
`checkers.tables`; it loads none of them before somebody asks. What stands in the columns is checked
by the engine that opens it, once, so that no query has to ask whether a word is known, a row came
twice, or NULL stands where nothing may be unknown. Tables that are missing are empty and named in
`missing`; columns that the contract does not know are left out, and a nullable one that is missing
is NULL.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from checkers.history_rows import filled
from checkers.tables import TABLES, Column

_SQL_TYPES: Final[dict[pa.DataType, str]] = {
    pa.string(): "VARCHAR",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.bool_(): "BOOLEAN",
}


class BadHistory(ValueError):
    """A history that cannot be judged as it is; the text says where, what, and what to do."""


class Shelf(Protocol):
    """Where tables are put for queries to find."""

    def put(self, name: str, table: pa.Table) -> None:
        """Put a table there."""

    def attach(self, name: str, place: str, columns: str) -> None:
        """Put the Parquet data at a place there."""


@dataclass(frozen=True)
class _File:
    """A table that is still in its file."""

    path: Path
    rows: int
    columns: str
    full: frozenset[str]
    """Columns that hold no NULL, as the file's own statistics say."""

    @classmethod
    def at(cls, name: str, path: Path, source: str) -> _File:
        try:
            about = pq.read_metadata(path)
            schema = pq.read_schema(path)
        except (OSError, pa.ArrowException) as error:
            raise BadHistory(
                f"{path}: expected a Parquet file: {error}. Restore it or run again."
            ) from None
        selected = []
        for column in TABLES[name].columns:
            type_ = _SQL_TYPES[column.type]
            if column.name not in schema.names:
                _not_needed(name, column, source)
                selected.append(f'CAST(NULL AS {type_}) AS "{column.name}"')
                continue
            found = schema.field(column.name).type
            _check_type(name, column, found, source)
            selected.append(
                f'CAST("{column.name}" AS {type_}) AS "{column.name}"'
                if pa.types.is_null(found)
                else f'"{column.name}"'
            )
        return cls(path, about.num_rows, ", ".join(selected), _full(about))


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
        self._files: dict[str, _File] = {}
        self._tables = {name: _fitting(name, table, source) for name, table in tables.items()}

    @classmethod
    def load(cls, folder: str | Path) -> History:
        """`<table>.parquet` for every table of the contract; nothing is read but the files' ends.

        Raises:
            BadHistory: the folder or a file cannot be read, or the columns of a table do not fit.
        """
        folder = Path(folder)
        if not folder.is_dir():
            raise BadHistory(
                f"{folder}: there is no such folder; expected is one with "
                "sends.parquet, log.parquet, … Give the folder `history` of a run."
            )
        history = cls({}, source=str(folder))
        for name in TABLES:
            path = folder / f"{name}.parquet"
            if path.exists():
                history._files[name] = _File.at(name, path, str(folder))
        history.missing = tuple(n for n in TABLES if n not in history._files)
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
        """Write every table as `<table>.parquet`."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in self.items():
            pq.write_table(table, folder / f"{name}.parquet")

    def replace(self, table: str, rows: pa.Table) -> History:
        """This history with one table in place of another.

        Raises:
            BadHistory: it does not fit.
        """
        kept = {n: self[n] for n in TABLES if n not in self.missing}
        return History({**kept, table: rows}, source=self.source)

    def rows(self, name: str) -> int:
        """How many rows a table has."""
        if name in self._files and name not in self._tables:
            return self._files[name].rows
        return int(self[name].num_rows)

    def full(self, name: str) -> frozenset[str]:
        """Columns of a table of which it is known, without a look, that they hold no NULL."""
        if name in self._files:
            return self._files[name].full
        table = self[name]
        return frozenset(n for n in table.column_names if not table.column(n).null_count)

    def distinct(
        self, name: str, columns: Sequence[str], *, where_known: str | None = None
    ) -> set[tuple[Any, ...]]:
        """The values that columns of a table have together; a file is read in small pieces.

        Args:
            name: the table.
            columns: which columns.
            where_known: only rows in which this column is not NULL.
        """
        found: set[tuple[Any, ...]] = set()
        for piece in self._pieces(name, [*columns, *([where_known] if where_known else [])]):
            rows = piece.filter(pc.is_valid(piece[where_known])) if where_known else piece
            groups = rows.select(list(columns)).group_by(list(columns)).aggregate([])
            found |= set(zip(*(groups[c].to_pylist() for c in columns), strict=True))
        return found

    def _pieces(self, name: str, columns: list[str]) -> Iterator[pa.Table]:
        file = self._files.get(name)
        present = set(columns) <= set(pq.read_schema(file.path).names) if file else False
        if file is None or name in self._tables or not present:
            yield self[name].select(list(dict.fromkeys(columns)))
            return
        with pq.ParquetFile(file.path) as parquet:
            for batch in parquet.iter_batches(columns=list(dict.fromkeys(columns))):
                yield pa.Table.from_batches([batch])

    def put_into(self, shelf: Shelf) -> None:
        """Put every table where queries find it."""
        for name in TABLES:
            if self.rows(name) and name in self._files:
                file = self._files[name]
                shelf.attach(name, str(file.path), file.columns)
            else:
                shelf.put(name, self[name])

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._tables:
            if name in self._files:
                path = self._files[name].path
                try:
                    table = pq.read_table(path)
                except (OSError, pa.ArrowException) as error:
                    raise BadHistory(
                        f"{path}: expected a Parquet file: {error}. Restore it or run again."
                    ) from None
                self._tables[name] = _fitting(name, table, self.source)
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


def _fitting(name: str, table: pa.Table, source: str) -> pa.Table:
    columns = []
    for column in TABLES[name].columns:
        if column.name not in table.column_names:
            _not_needed(name, column, source)
            columns.append(pa.nulls(table.num_rows, column.type))
            continue
        data = table.column(column.name)
        _check_type(name, column, data.type, source)
        columns.append(data if data.type == column.type else data.cast(column.type))
    return pa.Table.from_arrays(columns, schema=TABLES[name].schema)


def _not_needed(name: str, column: Column, source: str) -> None:
    """Raise if a column that is missing must be known."""
    if not column.nullable:
        raise BadHistory(
            f"{source}: {name}.parquet has no column {column.name}; expected is {column.type}, "
            "and it must be known in every row. Write it."
        )


def _check_type(name: str, column: Column, found: pa.DataType, source: str) -> None:
    text = pa.types.is_string(column.type) and (
        pa.types.is_large_string(found)
        or pa.types.is_string_view(found)
        or (pa.types.is_dictionary(found) and pa.types.is_string(found.value_type))
    )
    if found != column.type and not text and not pa.types.is_null(found):
        raise BadHistory(
            f"{source}: {name}.parquet, column {column.name}: expected {column.type}, found "
            f"{found}. Convert it where the history is written."
        )


def _full(about: pq.FileMetaData) -> frozenset[str]:
    names = {about.schema.column(i).name: i for i in range(about.num_columns)}
    return frozenset(
        name
        for name, i in names.items()
        if all(
            (stats := about.row_group(g).column(i).statistics) is not None
            and stats.has_null_count
            and stats.null_count == 0
            for g in range(about.num_row_groups)
        )
    )

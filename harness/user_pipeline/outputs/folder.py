"""A folder of files: Parquet, CSV with a header, or JSON Lines.

It is read as a plain directory listing shows it. Names that begin with `_` or a dot are hidden from
such readers; a log of valid files that the writer may keep is ignored. A torn file or row (Parquet
or compressed without its end, CSV with too few columns) is visible to such readers and names no
input, so no claim can hold while it exists.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from onceproof.harness.sinks.files import whole
from onceproof.harness.sinks.rows import Rows, UnreadableFiles, rows_of
from onceproof.harness.user_pipeline.identity import Written
from onceproof.harness.user_pipeline.outputs.base import (
    FoundEffect,
    UnreadableOutput,
    as_json,
    rows,
)
from onceproof.harness.user_pipeline.outputs.kind import Opened, OutputAccess, OutputKind
from onceproof.harness.user_pipeline.outputs.named import Truncated, belongs, text

MORE: Final = "more"
"""Key of the CSV fields that exceed the header."""
_TRUNCATED: Final = Written(value=None)
"""Something that exists but cannot be read."""


class Folder:
    """All files of one format in a folder and its subfolders; empty until it is created."""

    def __init__(self, path: Path, format_: str) -> None:
        """`format_` is a key of `FORMATS`."""
        self._path = path
        self._format = format_

    def size(self) -> int:
        """Return the total bytes of readable files."""
        return sum(_size(file) for file in self._files() if not self._is_truncated(file))

    def found(self) -> Iterator[FoundEffect]:
        for file in self._files():
            place = str(file.relative_to(self._path))
            if self._is_truncated(file):
                yield FoundEffect(written=_TRUNCATED, position=f"{place} (truncated Parquet file)")
            else:
                try:
                    yield from FORMATS[self._format](file, place)
                except Truncated:
                    yield FoundEffect(written=_TRUNCATED, position=f"{place} (truncated file)")

    def hanging(self) -> bool:
        return False

    def _is_truncated(self, file: Path) -> bool:
        return self._format == "parquet" and not whole(file)

    def _files(self) -> list[Path]:
        there = self._path.rglob("*") if self._path.is_dir() else ()
        seen = (
            file
            for file in there
            if not any(part[0] in "._" for part in file.relative_to(self._path).parts)
        )
        return sorted(file for file in seen if belongs(file, self._format) and file.is_file())


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def parquet(file: Path, place: str) -> Iterator[FoundEffect]:
    try:
        yield from rows(rows_of(file), place=place)
    except UnreadableFiles as error:
        raise UnreadableOutput(str(error)) from error


def rows_by_file(files: Iterable[tuple[Path, Rows]]) -> Iterator[FoundEffect]:
    try:
        for file, found in files:
            yield from rows(found, place=file.name)
    except UnreadableFiles as error:
        raise UnreadableOutput(str(error)) from error


def csv_rows(file: Path, place: str, *, strict: bool = False) -> Iterator[FoundEffect]:
    """Yield rows of a CSV file with a header; one with too few fields has no content.

    `strict` requires UTF-8, and as many fields as columns; `place` is the file's name in positions.

    Raises:
        Truncated: the file is compressed and truncated.
        UnreadableOutput: a quote is not closed, or `strict` is violated.
    """
    with text(file, strict=strict, newline="") as opened:
        lines = csv.DictReader(opened, restkey=MORE, strict=True)
        try:
            for row in lines:
                at = f"{place} line {lines.line_num}"
                if strict and (MORE in row or None in row.values()):
                    raise UnreadableOutput(
                        f"{at}: expected one field per column "
                        f"({', '.join(lines.fieldnames or ())}), found {', '.join(_fields(row))}"
                    )
                if None in row.values():
                    yield FoundEffect(written=_TRUNCATED, position=f"{at} (too few fields)")
                else:
                    yield FoundEffect(written=as_json(row), position=at)
        except csv.Error as error:
            raise UnreadableOutput(
                f"{place} line {lines.line_num + 1}: expected CSV with quotes as in RFC 4180 "
                f"(in Spark, set the option escape to a quote): {error}"
            ) from None


def _fields(row: Mapping[str, Any]) -> list[str]:
    named = [value for name, value in row.items() if name != MORE and value is not None]
    return [repr(value) for value in (*named, *row.get(MORE, ()))]


def json_lines(file: Path, place: str, *, strict: bool = False) -> Iterator[FoundEffect]:
    """Yield non-empty lines; raises `UnreadableOutput` if one is not JSON, and as `csv_rows`."""
    with text(file, strict=strict) as opened:
        for number, line in enumerate(opened, 1):
            if line.strip():
                _check(line, f"{place} line {number}")
                yield FoundEffect(written=Written(value=line), position=f"{place} line {number}")


def _check(line: str, place: str) -> None:
    try:
        json.loads(line)
    except ValueError as error:
        raise UnreadableOutput(
            f"{place}: expected JSON, one value per line, found {line[:80]!r}: {error}"
        ) from None


FORMATS: Final[dict[str, Callable[[Path, str], Iterator[FoundEffect]]]] = {
    "parquet": parquet,
    "csv": csv_rows,
    "json": json_lines,
}
"""Readers by format."""


def _opened(format_: str) -> Opened:
    def opened(place: str, where: OutputAccess) -> Folder:
        return Folder(Path(where.fill(place)), format_)

    return opened


OUTPUTS: Final = tuple(
    OutputKind(
        prefix=format_,
        place="FOLDER",
        says=says,
        views={"listing": _opened(format_)},
        untested="Readers that use the writer's log of valid files: the folder was listed.",
    )
    for format_, says in {
        "parquet": "The Parquet files in a folder and its subfolders.",
        "csv": "The CSV files in a folder and its subfolders, each with a header.",
        "json": "The JSON Lines files in a folder and its subfolders.",
    }.items()
)

"""A folder of files: Parquet, CSV with a header, or JSON Lines.

It is read as anybody's reader lists it. What stands below a name that begins
with `_` or a dot is not there for such a reader; whether a log of the writer's says that a file
counts, it does not ask. What is torn (a Parquet or compressed file without its end, a row of a CSV
file without all its columns) is there for such a reader, and names no input: nothing holds as long
as it is.
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
from onceproof.harness.user_pipeline.outputs.base import Found, UnreadableOutput, as_json, rows
from onceproof.harness.user_pipeline.outputs.kind import Opened, OutputKind, Where
from onceproof.harness.user_pipeline.outputs.named import Torn, belongs, text

MORE: Final = "more"
"""What fields of a CSV row are called that its header has no name for."""
_TORN: Final = Written(value=None)
"""What is there and says nothing."""


class Folder:
    """All files of one format in a folder and those below; until it is made there are none."""

    def __init__(self, path: Path, format_: str) -> None:
        """`format_` is a name of `FORMATS`."""
        self._path = path
        self._format = format_

    def size(self) -> int:
        """How many bytes there are, in files that can be read."""
        return sum(_size(file) for file in self._files() if not self._torn(file))

    def found(self) -> Iterator[Found]:
        """One thing a row, file by file."""
        for file in self._files():
            place = str(file.relative_to(self._path))
            if self._torn(file):
                yield Found(written=_TORN, position=f"{place} (a Parquet file without its end)")
            else:
                try:
                    yield from FORMATS[self._format](file, place)
                except Torn:
                    yield Found(written=_TORN, position=f"{place} (it ends before its end)")

    def hanging(self) -> bool:
        """Nothing can."""
        return False

    def _torn(self, file: Path) -> bool:
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


def parquet(file: Path, place: str) -> Iterator[Found]:
    """Rows of a Parquet file."""
    try:
        yield from rows(rows_of(file), place=place)
    except UnreadableFiles as error:
        raise UnreadableOutput(str(error)) from error


def rows_by_file(files: Iterable[tuple[Path, Rows]]) -> Iterator[Found]:
    """Rows of a table, file by file."""
    try:
        for file, found in files:
            yield from rows(found, place=file.name)
    except UnreadableFiles as error:
        raise UnreadableOutput(str(error)) from error


def csv_rows(file: Path, place: str, *, strict: bool = False) -> Iterator[Found]:
    """Rows of a CSV file whose first line names its columns; one that is short says nothing.

    Args:
        file: where it is.
        place: what it is called.
        strict: whether all must be right: text in UTF-8, and a field in each row for each column.

    Raises:
        Torn: it is compressed, and ends before its end.
        UnreadableOutput: a quote has no end, or a row is not as it must be.
    """
    with text(file, strict=strict, newline="") as opened:
        lines = csv.DictReader(opened, restkey=MORE, strict=True)
        try:
            for row in lines:
                at = f"{place} line {lines.line_num}"
                if strict and (MORE in row or None in row.values()):
                    raise UnreadableOutput(
                        f"{at}: expected a field for each of {', '.join(lines.fieldnames or ())}, "
                        f"found {', '.join(_fields(row))}"
                    )
                if None in row.values():
                    yield Found(written=_TORN, position=f"{at} (too few fields)")
                else:
                    yield Found(written=as_json(row), position=at)
        except csv.Error as error:
            raise UnreadableOutput(
                f"{place} line {lines.line_num + 1}: expected CSV with quotes as RFC 4180 has them "
                f"(Spark writes them so with the option escape set to a quote): {error}"
            ) from None


def _fields(row: Mapping[str, Any]) -> list[str]:
    named = [value for name, value in row.items() if name != MORE and value is not None]
    return [repr(value) for value in (*named, *row.get(MORE, ()))]


def json_lines(file: Path, place: str, *, strict: bool = False) -> Iterator[Found]:
    """Lines of JSON; empty ones are none. `strict` as for `csv_rows`.

    Raises:
        Torn: it is compressed, and ends before its end.
        UnreadableOutput: a line is something else.
    """
    with text(file, strict=strict) as opened:
        for number, line in enumerate(opened, 1):
            if line.strip():
                _check(line, f"{place} line {number}")
                yield Found(written=Written(value=line), position=f"{place} line {number}")


def _check(line: str, place: str) -> None:
    try:
        json.loads(line)
    except ValueError as error:
        raise UnreadableOutput(
            f"{place}: expected JSON, one value a line, found {line[:80]!r}: {error}"
        ) from None


FORMATS: Final[dict[str, Callable[[Path, str], Iterator[Found]]]] = {
    "parquet": parquet,
    "csv": csv_rows,
    "json": json_lines,
}
"""How a file is read."""


def _opened(format_: str) -> Opened:
    def opened(place: str, where: Where) -> Folder:
        return Folder(Path(where.fill(place)), format_)

    return opened


OUTPUTS: Final = tuple(
    OutputKind(
        prefix=format_,
        place="FOLDER",
        says=says,
        views={"listing": _opened(format_)},
        untested="Readers who follow the writer's log of valid files: the folder was listed.",
    )
    for format_, says in {
        "parquet": "The Parquet files in a folder and its subfolders.",
        "csv": "The CSV files there, each with a header.",
        "json": "The files of JSON Lines there.",
    }.items()
)

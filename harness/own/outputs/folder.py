"""A folder of files: Parquet, CSV with a header, or JSON Lines.

The one thing to know: it is read as anybody's reader lists it. What stands below a name that begins
with `_` or a dot is not there for such a reader; whether a log of the writer's says that a file
counts, it does not ask.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from harness.own.identity import Written
from harness.own.outputs.base import Found, UnreadableOutput, rows
from harness.sinks.files import whole
from harness.sinks.rows import UnreadableFiles, rows_of


class Folder:
    """All files of one format in a folder and those below; until it is made there are none."""

    def __init__(self, path: Path, format_: str) -> None:
        """`format_` is a name of `FORMATS`."""
        self._path = path
        self._format = format_

    def size(self) -> int:
        """How many bytes there are."""
        return sum(_size(file) for file in self._files())

    def found(self) -> Iterator[Found]:
        """One thing a row, file by file."""
        for file in self._files():
            yield from FORMATS[self._format](file, str(file.relative_to(self._path)))

    def hanging(self) -> bool:
        """Nothing can."""
        return False

    def _files(self) -> list[Path]:
        there = self._path.rglob(f"*.{self._format}") if self._path.is_dir() else ()
        seen = [
            file
            for file in there
            if not any(part[0] in "._" for part in file.relative_to(self._path).parts)
        ]
        return sorted(f for f in seen if self._format != "parquet" or whole(f))


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


def _csv(file: Path, place: str) -> Iterator[Found]:
    with file.open(newline="", encoding="utf-8", errors="replace") as opened:
        lines: Iterable[Mapping[str, Any]] = csv.DictReader(opened, restkey="more")
        yield from rows(lines, place=place)


def _json(file: Path, place: str) -> Iterator[Found]:
    with file.open(encoding="utf-8", errors="replace") as opened:
        for number, line in enumerate(opened, 1):
            if line.strip():
                _check(line, f"{place} line {number}")
                yield Found(written=Written(value=line), position=f"{place} line {number}")


def _check(line: str, place: str) -> None:
    try:
        json.loads(line)
    except ValueError as error:
        raise UnreadableOutput(f"{place}: expected JSON, found {line[:80]!r}: {error}") from None


FORMATS: Final[dict[str, Callable[[Path, str], Iterator[Found]]]] = {
    "parquet": parquet,
    "csv": _csv,
    "json": _json,
}
"""How a file is read, by the end of its name."""

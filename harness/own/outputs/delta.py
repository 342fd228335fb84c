"""A Delta table, as its log says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.own.outputs.base import Found, UnreadableOutput
from harness.own.outputs.folder import parquet
from harness.sinks.delta import DeltaTable
from harness.sinks.rows import UnreadableFiles


class Delta:
    """One table, to which is only appended; until it is made there is nothing in it."""

    def __init__(self, path: Path) -> None:
        self._table = DeltaTable(path, topic="", sink="")

    def size(self) -> int:
        """How many commits there are."""
        return self._table.size()

    def found(self) -> Iterator[Found]:
        """One thing a row, file by file."""
        try:
            files = self._table.files()
        except UnreadableFiles as error:
            raise UnreadableOutput(str(error)) from error
        for file in files:
            yield from parquet(file, file.name)

    def hanging(self) -> bool:
        """Nothing can."""
        return False

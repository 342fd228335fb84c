"""An Iceberg table, read by its metadata with PyIceberg."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from onceproof.harness.sinks.iceberg import METADATA, IcebergTable
from onceproof.harness.user_pipeline.outputs.base import FoundEffect, UnreadableOutput
from onceproof.harness.user_pipeline.outputs.folder import rows_by_file
from onceproof.harness.user_pipeline.outputs.kind import OutputKind

_EXPECTED: Final = (
    "expected metadata/v<N>.metadata.json, as in a Hadoop catalog. In any other catalog, only the "
    "catalog knows which snapshot is current: use command:COMMAND with a command that prints the "
    "table"
)


class Iceberg:
    """The newest snapshot of a table; empty until it is created."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._table = IcebergTable(path, topic="", sink="", listed="")

    def size(self) -> int:
        """Return the number of commits."""
        return self._table.commits()

    def found(self) -> Iterator[FoundEffect]:
        if not self._table.commits():
            self._check_catalog()
        yield from rows_by_file(self._table.rows())

    def hanging(self) -> bool:
        return False

    def _check_catalog(self) -> None:
        """Raise `UnreadableOutput` if there is a table of another catalog, which cannot be read."""
        for other in sorted((self._path / METADATA).glob("*.metadata.json")):
            raise UnreadableOutput(f"{self._path}: found metadata/{other.name}, {_EXPECTED}")


OUTPUTS: Final = (
    OutputKind(
        prefix="iceberg",
        place="FOLDER",
        says="The newest snapshot of a table in an Iceberg Hadoop catalog.",
        views={"table": lambda place, where: Iceberg(Path(where.fill(place)))},
    ),
)

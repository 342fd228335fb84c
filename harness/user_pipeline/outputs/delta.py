"""A Delta table, read by its transaction log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from onceproof.harness.sinks.delta import DeltaTable
from onceproof.harness.user_pipeline.outputs.base import FoundEffect
from onceproof.harness.user_pipeline.outputs.folder import rows_by_file
from onceproof.harness.user_pipeline.outputs.kind import OutputKind


class Delta:
    """The newest version of a table; empty until it is created."""

    def __init__(self, path: Path) -> None:
        self._table = DeltaTable(path, topic="", sink="")

    def size(self) -> int:
        """Return the number of commits."""
        return self._table.size()

    def found(self) -> Iterator[FoundEffect]:
        yield from rows_by_file(self._table.rows())

    def hanging(self) -> bool:
        return False


OUTPUTS: Final = (
    OutputKind(
        prefix="delta",
        place="FOLDER",
        says="The newest version of a Delta table.",
        views={"table": lambda place, where: Delta(Path(where.fill(place)))},
    ),
)

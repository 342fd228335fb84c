"""A Delta table, as its log says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from onceproof.harness.sinks.delta import DeltaTable
from onceproof.harness.user_pipeline.outputs.base import Found
from onceproof.harness.user_pipeline.outputs.folder import rows_by_file
from onceproof.harness.user_pipeline.outputs.kind import OutputKind


class Delta:
    """One table, as its newest version has it; until it is made there is nothing in it."""

    def __init__(self, path: Path) -> None:
        self._table = DeltaTable(path, topic="", sink="")

    def size(self) -> int:
        """How many commits there are."""
        return self._table.size()

    def found(self) -> Iterator[Found]:
        """One thing a row, file by file."""
        yield from rows_by_file(self._table.rows())

    def hanging(self) -> bool:
        """Nothing can."""
        return False


OUTPUTS: Final = (
    OutputKind(
        prefix="delta",
        place="FOLDER",
        says="A Delta table, as its newest version has it.",
        views={"table": lambda place, where: Delta(Path(where.fill(place)))},
    ),
)

"""The definition of a mutation in the self-check.

`targets` is a query by trial for rows where the mutation can be made. Its columns identify the row,
and `key` lists those that the finding must have. `needs` is None for a mutation that must always be
possible: without a place for it, no claim holds that its finding would refute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Mutator:
    """One way to mutate a history. Mutations of one `kind` may share a copy."""

    name: str
    table: str
    key: tuple[str, ...]
    targets: str
    change: Callable[[pa.Table, Row], pa.Table]
    kind: str
    needs: str | None = None
    """A query for rows without which the mutation could prove nothing; None: always needed."""

    of_the_whole: bool = False
    """Mutate the whole history instead of a sample, where every record counts."""

    @property
    def of_records(self) -> bool:
        return self.table in ("log", "effects", "journal", "reads")

    @property
    def order(self) -> tuple[str, ...]:
        """Columns that give targets a deterministic order."""
        return ("record", self.key[-1]) if self.of_records else self.key

"""What a mutation of the self-check is, and where it can be made.

`targets` is a query for rows where the mutation can be made, by trial; its
columns say which row of the table is meant, and `key` which of them the finding must carry. `needs`
is empty for mutations that must always be possible: without a place for them no claim holds that
the finding would refute.
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
    """Rows without which there is nothing that this mutation could prove; None: always needed."""

    of_the_whole: bool = False
    """Made in the whole history and not in a sample of it, as where every record counts."""

    @property
    def of_records(self) -> bool:
        """Whether its targets are records; else they are positions, ranges or values."""
        return self.table in ("log", "effects", "journal", "reads")

    @property
    def order(self) -> tuple[str, ...]:
        """Columns by which targets are put in an order that is always the same."""
        return ("record", self.key[-1]) if self.of_records else self.key

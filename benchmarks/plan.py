"""What a generated history is to look like: plain data, and the name of its folder.

Equal plans make equal histories, so that a folder is named by its plan and
made only once.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

MAKING: Final = 1
"""Counts up when the same plan would make another history, so that old folders are not used."""
CACHE: Final = Path("build/benchmarks")
"""Where histories are kept; `make clean` removes it."""
LARGEST_BATCH: Final = 20_000


class Shape(StrEnum):
    """What the transformation makes of one record."""

    ONE_TO_ONE = "one-to-one"
    FILTER = "filter"
    ONE_TO_MANY = "one-to-many"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One history.

    Attributes:
        records: how many different records are sent; re-sends come on top.
        offset_base: the offset that every partition's log begins at.
        transactions: send in transactions of a hundred, with markers, one in twenty aborted.
        shape: what one record comes to in the sink.
        drop: effects that are left out, at random places.
        duplicate: effects that are there twice, at random places.
        batch: records of one micro-batch; 0: as many as are fitting.
    """

    records: int
    offset_base: int = 0
    transactions: bool = False
    shape: Shape = Shape.ONE_TO_ONE
    drop: int = 0
    duplicate: int = 0
    batch: int = 0

    def __post_init__(self) -> None:
        for name in ("records", "offset_base", "drop", "duplicate", "batch"):
            if getattr(self, name) < 0:
                raise ValueError(f"Plan({name}={getattr(self, name)}): must not be negative")

    @property
    def batch_records(self) -> int:
        """Records of one micro-batch; a small history has ten batches all the same."""
        return self.batch or min(LARGEST_BATCH, max(1, self.records // 10))

    @property
    def batches(self) -> tuple[int, int]:
        """How many whole micro-batches, and how many records are left for the last one."""
        return divmod(self.records, self.batch_records)

    @property
    def name(self) -> str:
        """The folder's name: everything that is not as usual, in words."""
        parts = [f"{self.records}-records"]
        if self.offset_base:
            parts.append(f"from-{self.offset_base}")
        if self.transactions:
            parts.append("transactions")
        if self.shape is not Shape.ONE_TO_ONE:
            parts.append(self.shape.value)
        if self.drop:
            parts.append(f"dropped-{self.drop}")
        if self.duplicate:
            parts.append(f"duplicated-{self.duplicate}")
        if self.batch:
            parts.append(f"by-{self.batch}")
        return "-".join([*parts, f"v{MAKING}"])

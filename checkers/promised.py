"""What is known of a history apart from its rows: what a run recorded before, and what was sealed.

Rows that were taken away leave no trace in a table. Whoever knows what must be there says it here,
and `onceproof.checkers.belonging` compares. Of a foreign history nothing of the kind is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

PHASES: Final = ("arrange", "warm-up", "disturb", "heal", "settle", "collect", "tear-down")
"""The phases of a run, in their order; each has a row with an outcome when it has ended well."""


@dataclass(frozen=True, kw_only=True)
class Promised:
    """What must be there when a run has come to its end.

    Attributes:
        phases: each has a row.
        faults: name of each line of the schedule → whether it was required; each has a row.
        logs: topic → how many partitions it has at least; each has a row in `partitions`.
        in_bytes: topics whose offsets count bytes; in all others every offset has an entry.
        records: how many records were to be sent.
        positions: whether the committed positions of the pipeline are recorded.
        expected: sink → how many rows of `expected` were written.
        contributions: sink → how many rows of `contributions` were written.
        rows: table → how many rows were sealed.
        doubt: why nobody knows whether the history is whole; None if it is known.
    """

    phases: tuple[str, ...] = ()
    faults: Mapping[str, bool] = field(default_factory=dict)
    logs: Mapping[str, int] = field(default_factory=dict)
    in_bytes: frozenset[str] = frozenset()
    records: int = 0
    positions: bool = False
    expected: Mapping[str, int] = field(default_factory=dict)
    contributions: Mapping[str, int] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    doubt: str | None = None


NOTHING: Final = Promised()
"""Nothing is known but the rows."""

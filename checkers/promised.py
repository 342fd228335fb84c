"""What is known of a history apart from its rows: what a run recorded earlier, and what it sealed.

Removed rows leave no trace in a table. `onceproof.checkers.belonging` compares the history with
what must be there. Nothing is known of imported histories.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

PHASES: Final = ("arrange", "warm-up", "disturb", "heal", "settle", "collect", "tear-down")
"""The phases of a run, in order; each has a row with an outcome when it ended well."""


@dataclass(frozen=True, kw_only=True)
class RequiredHistory:
    """What the history of a completed run must have.

    Attributes:
        phases: each has a row.
        faults: scheduled fault → whether it was required; each has a row.
        logs: topic → minimum number of partitions; each has a row in `partitions`.
        in_bytes: topics whose offsets count bytes; in all others every offset has an entry.
        records: number of records to send.
        positions: whether the pipeline's committed offsets are recorded.
        expected: sink → number of rows in `expected`.
        contributions: sink → number of rows in `contributions`.
        rows: table → number of rows sealed.
        doubt: why it is unknown whether the history is complete; None if it is known.
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


NOTHING: Final = RequiredHistory()
"""Nothing is known but the rows."""

"""Find what exercised the claims of consumers with a database, in what they left.

A payment that has or had two rows was written again; one without a row below the committed offset
was skipped. A refused write leaves no trace, so the consumer reports it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.subjects.counted import beyond, counted
from onceproof.harness.subjects.group.hazards import ABANDONED, REPLAYED, abandoned
from onceproof.harness.subjects.stored.journal import LEDGER

REFUSED: Final = "refused-write"
"""A batch started from an offset that was no longer the stored one."""
IN_DOUBT: Final = "commit-in-doubt"
"""A consumer's connection or process ended during its commit."""

Rows = Iterable[Mapping[str, Any]]


def hazards(
    log: Rows, effects: Rows, journal: Rows, *, topic: str, commits: Iterable[Commit]
) -> list[dict[str, Any]]:
    written = Counter(row["record"] for row in effects)
    seen = Counter(
        row["record"] for row in journal if (row["sink"], row["operation"]) == (LEDGER, "append")
    )
    rows = [row for row in log if row["kind"] == "data"]
    inputs = Counter(row["record"] for row in rows if row["topic"] == topic)
    again = beyond(inputs, written | seen)
    never = abandoned(rows, written, topic=topic, commits=commits)
    return counted(
        (REPLAYED, again, "payments have, or had, more rows than expected"),
        (ABANDONED, never, "payments below the committed offsets have no row"),
    )

"""Find aborted records in the input of a Spark query.

Skipping them is exercised only if there were some in a committed micro-batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from onceproof.harness.subjects.counted import counted

ABORTED_INPUT: Final = "aborted-input"
"""Records of aborted transactions were within the offset ranges of committed micro-batches."""

Row = Mapping[str, Any]


def aborted_input(log: Iterable[Row], ranges: Iterable[Row]) -> list[dict[str, Any]]:
    committed: dict[tuple[str, int], list[range]] = {}
    for row in ranges:
        if row["committed"]:
            place = row["topic"], row["partition"]
            committed.setdefault(place, []).append(range(row["start_offset"], row["end_offset"]))
    count = sum(
        1
        for row in log
        if row["kind"] == "data"
        and not row["committed"]
        and any(
            row["offset"] in each for each in committed.get((row["topic"], row["partition"]), ())
        )
    )
    return counted(
        (ABORTED_INPUT, count, "aborted records are in offset ranges of committed micro-batches")
    )

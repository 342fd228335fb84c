"""Find what exercised a group's claims, in the logs that it left.

An aborted or duplicated effect shows that inputs were processed more than once; a committed offset
beyond an input without effect shows that it was skipped. The kill of a process alone shows nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Final

from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.subjects.counted import Counted, beyond, counted

REPLAYED: Final = "replayed-input"
"""Inputs were processed again after their effects had reached the sink's log."""
ABORTED: Final = "aborted-transaction"
"""Effects in the sink's log were aborted with their transactions."""
UNWRITTEN: Final = "aborted-unwritten"
"""Transactions were aborted before any of their effects reached the sink's log: their inputs must
be processed again, but nothing could be duplicated."""
ABANDONED: Final = "abandoned-input"
"""Offsets were committed beyond inputs whose effects never reached the sink's log."""

Row = Mapping[str, Any]


def hazards(
    log: Sequence[Row], *, topic: str, sink: str, commits: Iterable[Commit]
) -> list[dict[str, Any]]:
    rows = [row for row in log if row["kind"] == "data" and row["record"] is not None]
    written = Counter(row["record"] for row in rows if row["topic"] == sink)
    again = beyond(Counter(row["record"] for row in rows if row["topic"] == topic), written)
    never = abandoned(rows, written, topic=topic, commits=commits)
    return counted(
        *aborted(log, sink),
        (
            REPLAYED,
            again,
            f"inputs have more effects in the log of {sink} than expected, counting aborted ones",
        ),
        (
            ABANDONED,
            never,
            f"inputs below the group's committed offsets have no effect in the log of {sink}",
        ),
    )


def aborted(log: Sequence[Row], sink: str) -> tuple[Counted, Counted]:
    """Count the sink's aborted effects, and abort markers without effects, in each partition."""
    effects = unwritten = 0
    here = (row for row in log if row["topic"] == sink)
    since: Counter[tuple[int, int]] = Counter()
    for row in sorted(here, key=lambda row: (row["partition"], row["offset"])):
        producer = row["partition"], row["producer_id"]
        if row["kind"] == "data":
            since[producer] += 1
            continue
        written = since.pop(producer, 0)
        if row["kind"] == "abort":
            effects += written
            unwritten += not written
    return (
        (ABORTED, effects, f"effects in the log of {sink} belong to aborted transactions"),
        (
            UNWRITTEN,
            unwritten,
            f"abort markers in {sink} belong to transactions without effects",
        ),
    )


def abandoned(
    rows: Iterable[Row], done: Container[str], *, topic: str, commits: Iterable[Commit]
) -> int:
    """Count committed inputs below their partition's highest committed offset that are not done."""
    ends: dict[int, int] = {}
    for commit in commits:
        if commit.topic == topic:
            ends[commit.partition] = max(commit.offset, ends.get(commit.partition, 0))
    return sum(
        1
        for row in rows
        if row["topic"] == topic
        and row["committed"]
        and row["offset"] < ends.get(row["partition"], 0)
        and row["record"] not in done
    )

"""What put a group to the test, read off the logs that it left.

An effect that was aborted, or one that is there twice, shows that inputs
were processed more than once; a position beyond an input without effect, that somebody committed
and then did not do it. That is what tests a claim, and not that a process was killed.
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
"""Effects that stood in the sink's log were taken back by aborted transactions."""
UNWRITTEN: Final = "aborted-unwritten"
"""Transactions were aborted before any effect of theirs had reached the sink's log: what they had
taken must be done again, and nothing of it could be there twice."""
ABANDONED: Final = "abandoned-input"
"""Positions were committed beyond inputs whose effects never reached the sink's log."""

Row = Mapping[str, Any]


def hazards(
    log: Sequence[Row], *, topic: str, sink: str, commits: Iterable[Commit]
) -> list[dict[str, Any]]:
    """Rows of the `hazards` table."""
    rows = [row for row in log if row["kind"] == "data" and row["record"] is not None]
    written = Counter(row["record"] for row in rows if row["topic"] == sink)
    again = beyond(Counter(row["record"] for row in rows if row["topic"] == topic), written)
    never = abandoned(rows, written, topic=topic, commits=commits)
    return counted(
        *aborted(log, sink),
        (
            REPLAYED,
            again,
            f"inputs have more effects in the log of {sink} than they must, aborted ones too",
        ),
        (ABANDONED, never, f"inputs below the group's positions have none in the log of {sink}"),
    )


def aborted(log: Sequence[Row], sink: str) -> tuple[Counted, Counted]:
    """Effects that transactions had written into a sink and took back, and those that had none.

    A marker of an abort is in each partition that the transaction had added, whether or not
    anything of it had come there.
    """
    effects = unwritten = 0
    here = (row for row in log if row["topic"] == sink)
    since: Counter[tuple[int, int]] = Counter()
    for row in sorted(here, key=lambda row: (row["partition"], row["offset"])):
        whose = row["partition"], row["producer_id"]
        if row["kind"] == "data":
            since[whose] += 1
            continue
        written = since.pop(whose, 0)
        if row["kind"] == "abort":
            effects += written
            unwritten += not written
    return (
        (ABORTED, effects, f"effects in the log of {sink} were taken back by aborted transactions"),
        (
            UNWRITTEN,
            unwritten,
            f"ends of aborted transactions in {sink} have no effect before them",
        ),
    )


def abandoned(
    rows: Iterable[Row], done: Container[str], *, topic: str, commits: Iterable[Commit]
) -> int:
    """How many committed inputs lie below the furthest commit of their partition, and are not done.

    Args:
        rows: rows of the `log` table that are data.
    """
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

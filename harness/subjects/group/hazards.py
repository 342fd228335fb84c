"""What put a group to the test, read off the logs that it left.

The one thing to know: the end of a transaction that was aborted, or an effect that stands there
twice, shows that inputs were processed more than once; a position beyond an input without effect,
that somebody committed and then did not do it. That is what tests a claim, and not that a process
was killed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Final

from harness.kafka.group_offsets import Commit
from harness.subjects.counted import counted

REPLAYED: Final = "replayed-input"
"""Inputs were processed again after their effects had reached the sink's log."""
ABORTED: Final = "aborted-transaction"
"""Transactions that had begun to write into the sink were aborted, positions and all."""
ABANDONED: Final = "abandoned-input"
"""Positions were committed beyond inputs whose effects never reached the sink's log."""

Row = Mapping[str, Any]


def hazards(
    log: Sequence[Row], *, topic: str, sink: str, commits: Iterable[Commit]
) -> list[dict[str, Any]]:
    """Rows of the `hazards` table.

    Args:
        log: rows of the `log` table.
        topic: what the group reads.
        sink: the topic that it writes to.
        commits: positions of the group, in order.
    """
    rows = [row for row in log if row["kind"] == "data" and row["record"] is not None]
    written = Counter(row["record"] for row in rows if row["topic"] == sink)
    again = sum(1 for count in written.values() if count > 1)
    never = abandoned(rows, written, topic=topic, commits=commits)
    aborted = sum(1 for row in log if row["topic"] == sink and row["kind"] == "abort")
    return counted(
        (ABORTED, aborted, f"ends of aborted transactions stand in {sink}"),
        (
            REPLAYED,
            again,
            f"inputs have more than one effect in the log of {sink}, aborted ones too",
        ),
        (ABANDONED, never, f"inputs below the group's positions have none in the log of {sink}"),
    )


def abandoned(
    rows: Iterable[Row], done: Container[str], *, topic: str, commits: Iterable[Commit]
) -> int:
    """How many committed inputs lie below the furthest commit of their partition, and are not done.

    Args:
        rows: rows of the `log` table that are data.
        done: inputs that have an effect.
        topic: what is read.
        commits: every position that was committed.
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

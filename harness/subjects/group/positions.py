"""What a group has committed so far, read while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from itertools import product
from typing import Any, Protocol

from onceproof.harness.clock import clock_id
from onceproof.harness.kafka.group_offsets import Commit, commits, end_for
from onceproof.harness.kafka.log_reader import LogReader, UnreadableLog

Reader = Callable[[], AbstractContextManager[LogReader]]
"""Open a log reader for the duration of a `with` block."""


class Committed(Protocol):
    """Committed offsets, wherever they are stored."""

    def look(self) -> list[Commit]:
        """Return all commits, oldest first; the last known ones if they cannot be read now."""


class LoggedPositions:
    """Commits that are read from a log. Thread-safe."""

    def __init__(self, read: Callable[[LogReader], list[Commit]], reader: Reader) -> None:
        """`read` extracts commits from a log; `reader` opens a log reader bypassing the proxies."""
        self._read = read
        self._reader = reader
        self._lock = threading.Lock()
        self._seen: list[Commit] = []

    def look(self) -> list[Commit]:
        with self._lock:
            try:
                with self._reader() as reader:
                    self._seen = self._read(reader)
            except UnreadableLog:
                pass  # that partition has no leader now
            return self._seen


class GroupPositions(LoggedPositions):
    """The commits of one consumer group. Thread-safe."""

    def __init__(self, group: str, reader: Reader, since: int = 0) -> None:
        """`reader` opens a log reader bypassing the proxies; for `since` see `commits`."""
        super().__init__(lambda log: commits(log, group, since), reader)

    @classmethod
    def from_now(cls, group: str, reader: Reader) -> GroupPositions:
        """Return the group's commits from now on.

        Raises:
            UnreadableLog: the end of its offsets log cannot be read.
        """
        with reader() as log:
            return cls(group, reader, end_for(log, group))


def rows_of(
    commits: Iterable[tuple[Commit, int]],
    owner: str,
    *,
    role: str = "resume",
    atomic_with: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return the rows of `positions` for commits, given with the time when each was seen.

    `atomic_with` are the sinks whose effects are committed together with the offsets.
    """
    roles = ((role, None), *(("atomic", name) for name in atomic_with))
    return [
        {
            "owner": owner,
            "instance": None,
            "role": as_role,
            "kind": "done",
            "by": "subject",
            "sink": sink,
            "topic": commit.topic,
            "partition": commit.partition,
            "offset": commit.offset,
            "batch": None,
            "ordinal": ordinal,
            "at": at,
            "clock": clock_id(),
        }
        for ordinal, ((commit, at), (as_role, sink)) in enumerate(product(commits, roles))
    ]

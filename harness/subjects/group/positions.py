"""What a group has committed so far, looked up while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from onceproof.harness.clock import clock_id
from onceproof.harness.kafka.group_offsets import Commit, commits, end_for
from onceproof.harness.kafka.log_reader import LogReader, UnreadableLog

Reader = Callable[[], AbstractContextManager[LogReader]]
"""Opens a reader of logs for as long as a block lasts."""


class Committed(Protocol):
    """Where a group commits, whatever keeps it."""

    def look(self) -> list[Commit]:
        """All commits, oldest first; those of the last look where nobody can say now."""


class LoggedPositions:
    """Commits that are read off a log. Thread-safe."""

    def __init__(self, read: Callable[[LogReader], list[Commit]], reader: Reader) -> None:
        """`read` says what a log holds; `reader` opens a reader of logs, past all proxies."""
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
                pass  # the leader of that log is gone for now
            return self._seen


class GroupPositions(LoggedPositions):
    """The commits of one group. Thread-safe."""

    def __init__(self, group: str, reader: Reader, since: int = 0) -> None:
        """`reader` opens a reader of logs, past all proxies; `since` is as of `commits`."""
        super().__init__(lambda log: commits(log, group, since), reader)

    @classmethod
    def from_now(cls, group: str, reader: Reader) -> GroupPositions:
        """What it commits from now on.

        Raises:
            UnreadableLog: nobody can say where that begins.
        """
        with reader() as log:
            return cls(group, reader, end_for(log, group))


def row_of(
    commit: Commit, owner: str, *, role: str, ordinal: int, at: int, sink: str | None = None
) -> dict[str, Any]:
    """A commit as a row of `positions`."""
    return {
        "owner": owner,
        "instance": None,
        "role": role,
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

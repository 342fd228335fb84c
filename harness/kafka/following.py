"""Follow growing logs during a run, and fetch only new entries.

Verdicts read every log from the start instead, since an election may truncate a log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from onceproof.harness.kafka.log_reader import Entry, PartitionLog, UnreadableLog
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.kafka.single_partition_log import ReaderOfAll, SinglePartitionLog

Read = Callable[[str, int, int], PartitionLog]
"""Topic, partition and first offset → the entries from there to the end."""


class EntryCache:
    """A cache of final entries: those below the last stable offset.

    Thread-safe without a lock, so that no thread waits for another's request: lists are never
    modified, and if two threads store one, either is correct.
    """

    def __init__(self) -> None:
        self._entries: dict[tuple[str, int], list[Entry]] = {}

    def whole(self, read: Read, topic: str, partition: int) -> PartitionLog:
        """Return a partition from its beginning, reading only new entries.

        Raises:
            UnreadableLog: `read` failed; the partition's cached entries are dropped.
        """
        known = self._entries.get((topic, partition), [])
        start = known[-1].offset + 1 if known else 0
        try:
            log = read(topic, partition, start)
            if known and (log.high_watermark < start or log.log_start > known[0].offset):
                known, log = [], read(topic, partition, 0)
        except UnreadableLog:
            self._entries.pop((topic, partition), None)
            raise
        entries = known + log.entries
        self._entries[topic, partition] = [
            entry for entry in entries if entry.offset < log.last_stable_offset
        ]
        return replace(log, entries=entries)


class Following(ReaderOfAll):
    """A reader that caches what it read from the beginning of a partition."""

    def __init__(
        self,
        view: ClusterView,
        addresses: Mapping[int, str],
        elsewhere: Mapping[str, SinglePartitionLog],
        remembered: EntryCache,
    ) -> None:
        """Create a reader; `remembered` is shared by all readers of the same logs."""
        super().__init__(view, addresses, elsewhere)
        self._remembered = remembered

    def read(self, topic: str, partition: int, start: int = 0) -> PartitionLog:
        if start:
            return super().read(topic, partition, start)
        return self._remembered.whole(super().read, topic, partition)


class Followers:
    """A pool of readers that follow the same logs."""

    def __init__(
        self,
        addresses: Mapping[int, str],
        elsewhere: Mapping[str, SinglePartitionLog] | None = None,
    ) -> None:
        self._addresses = dict(addresses)
        self._elsewhere = elsewhere or {}
        self._remembered = EntryCache()
        self._idle: list[Following] = []

    @contextmanager
    def reader(self) -> Iterator[Following]:
        """Lend a reader to a `with` block; if the block fails, the reader is closed."""
        try:
            borrowed = self._idle.pop()
        except IndexError:
            view = ClusterView(self._addresses)
            borrowed = Following(view, self._addresses, self._elsewhere, self._remembered)
        try:
            yield borrowed
        except BaseException:
            borrowed.close()
            raise
        self._idle.append(borrowed)

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

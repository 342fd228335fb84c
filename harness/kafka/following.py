"""Reading logs again and again while they grow: only what is new is fetched, over one connection.

It is for looks at a run under way. A verdict reads every log anew, since an election may cut a log
off and let it grow again.
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


class Remembered:
    """Entries that do not change any more: those below the last stable offset.

    Thread-safe without a lock, so that nobody waits for a broker that another has asked: a list is
    never changed, and of two that are kept at once either will do.
    """

    def __init__(self) -> None:
        self._entries: dict[tuple[str, int], list[Entry]] = {}

    def whole(self, read: Read, topic: str, partition: int) -> PartitionLog:
        """A partition from its beginning, of which only what is new is read.

        Raises:
            UnreadableLog: `read` did; what was remembered of the partition is forgotten.
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
    """Reads partitions whole, and remembers what it read."""

    def __init__(
        self,
        view: ClusterView,
        addresses: Mapping[int, str],
        elsewhere: Mapping[str, SinglePartitionLog],
        remembered: Remembered,
    ) -> None:
        """`remembered` is shared by all readers that follow the same logs."""
        super().__init__(view, addresses, elsewhere)
        self._remembered = remembered

    def read(self, topic: str, partition: int, start: int = 0) -> PartitionLog:
        if start:
            return super().read(topic, partition, start)
        return self._remembered.whole(super().read, topic, partition)


class Followers:
    """Readers that follow the same logs, lent out one at a time, with their connections."""

    def __init__(
        self,
        addresses: Mapping[int, str],
        elsewhere: Mapping[str, SinglePartitionLog] | None = None,
    ) -> None:
        """`addresses` maps node ids to `host:port` of the auditor's listener."""
        self._addresses = dict(addresses)
        self._elsewhere = elsewhere or {}
        self._remembered = Remembered()
        self._idle: list[Following] = []

    @contextmanager
    def reader(self) -> Iterator[Following]:
        """A reader for as long as the block lasts; one whose block fails is not lent out again."""
        try:
            lent = self._idle.pop()
        except IndexError:
            view = ClusterView(self._addresses)
            lent = Following(view, self._addresses, self._elsewhere, self._remembered)
        try:
            yield lent
        except BaseException:
            lent.close()
            raise
        self._idle.append(lent)

    def close(self) -> None:
        """Close the connections of all that are not lent out."""
        while self._idle:
            self._idle.pop().close()

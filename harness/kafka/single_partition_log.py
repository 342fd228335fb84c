"""Logs that no Kafka broker keeps, read as if one did: a file that is appended to, a queue.

All that is common is a log of positions. Each of these is one of a single
partition, in which whatever is there is committed: it has no markers, and nothing open in it shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from onceproof.harness.kafka.log_reader import LogReader, PartitionLog
from onceproof.harness.kafka.metadata import ClusterView


class SinglePartitionLog(Protocol):
    """A log of one partition."""

    def read(self, start: int = 0) -> PartitionLog:
        """Read it from an offset to its end.

        Raises:
            UnreadableLog: who keeps it does not answer.
        """

    def end(self) -> int:
        """Where it ends; raises as `read` does."""


class ReaderOfAll(LogReader):
    """Reads topics, and what is elsewhere as if it were one."""

    def __init__(
        self,
        view: ClusterView,
        addresses: Mapping[int, str],
        elsewhere: Mapping[str, SinglePartitionLog],
    ) -> None:
        """`elsewhere` has each topic that no broker keeps; for the rest see `LogReader`."""
        super().__init__(view, addresses)
        self._elsewhere = dict(elsewhere)

    def read(self, topic: str, partition: int, start: int = 0) -> PartitionLog:
        if topic in self._elsewhere:
            return self._elsewhere[topic].read(start)
        return super().read(topic, partition, start)

    def read_topic(self, topic: str, starts: dict[int, int] | None = None) -> list[PartitionLog]:
        if topic in self._elsewhere:
            return [self.read(topic, 0, (starts or {}).get(0, 0))]
        return super().read_topic(topic, starts)

    def ends(self, topic: str) -> dict[int, tuple[int, int]]:
        if topic in self._elsewhere:
            end = self._elsewhere[topic].end()
            return {0: (end, end)}
        return super().ends(topic)

    def count(self, topic: str) -> int:
        return 1 if topic in self._elsewhere else super().count(topic)

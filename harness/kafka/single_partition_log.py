"""Read inputs outside Kafka, such as an append-only file or a queue, like topics.

Each is a log with a single partition, without markers, in which every entry is committed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from onceproof.harness.kafka.log_reader import LogReader, PartitionLog
from onceproof.harness.kafka.metadata import ClusterView


class SinglePartitionLog(Protocol):
    """A log of one partition."""

    def read(self, start: int = 0) -> PartitionLog:
        """Read from an offset to the end.

        Raises:
            UnreadableLog: its system does not answer.
        """

    def end(self) -> int:
        """Return the end offset; raises as `read` does."""


class ReaderOfAll(LogReader):
    """Read topics, and single-partition logs as if they were topics."""

    def __init__(
        self,
        view: ClusterView,
        addresses: Mapping[int, str],
        elsewhere: Mapping[str, SinglePartitionLog],
    ) -> None:
        """Create a reader; `elsewhere` maps names to logs that are not topics."""
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

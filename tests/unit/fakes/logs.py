"""Logs in memory, and a reader of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.kafka.log_reader import Entry, LogReader, PartitionLog
from onceproof.harness.kafka.metadata import ClusterView


def entry(
    offset: int,
    *,
    topic: str = "payments",
    partition: int = 0,
    kind: str = "data",
    key: bytes | None = b"a",
    value: bytes | None = b"{}",
    headers: Mapping[str, bytes] | None = None,
    producer: int = 1,
    epoch: int = 0,
    transactional: bool = True,
) -> Entry:
    """An entry of a log, written in a transaction unless said otherwise."""
    return Entry(
        topic=topic,
        partition=partition,
        offset=offset,
        kind=kind,
        key=key,
        value=value,
        headers=dict(headers or {}),
        producer_id=producer,
        epoch=epoch,
        sequence=0,
        transactional=transactional,
    )


def log(
    *entries: Entry, topic: str = "payments", partition: int = 0, end: int | None = None
) -> PartitionLog:
    """A partition's log that ends behind its last entry, or at `end`."""
    end = max((e.offset + 1 for e in entries), default=0) if end is None else end
    return PartitionLog(
        topic=topic,
        partition=partition,
        log_start=0,
        last_stable_offset=end,
        high_watermark=end,
        entries=list(entries),
    )


def records(count: int) -> PartitionLog:
    """A log of so many records in one transaction that was committed: `r0`, `r1` and so on."""
    data = [entry(n, headers={RECORD_HEADER: f"r{n}".encode()}) for n in range(count)]
    return log(*data, entry(count, kind="commit"))


class FakeReader(LogReader):
    """Reads what a test has put into `logs`, which stays readable when the reader is closed."""

    def __init__(self, logs: Iterable[PartitionLog] = ()) -> None:
        super().__init__(ClusterView({}), {})
        self.logs = list(logs)

    def read(self, topic: str, partition: int, start: int = 0) -> PartitionLog:
        (found,) = [each for each in self._of(topic) if each.partition == partition]
        return replace(found, entries=[e for e in found.entries if e.offset >= start])

    def read_topic(self, topic: str, starts: dict[int, int] | None = None) -> list[PartitionLog]:
        there = self._of(topic)
        return [self.read(topic, p.partition, (starts or {}).get(p.partition, 0)) for p in there]

    def ends(self, topic: str) -> dict[int, tuple[int, int]]:
        return {p.partition: (p.last_stable_offset, p.high_watermark) for p in self._of(topic)}

    def _of(self, topic: str) -> list[PartitionLog]:
        return [each for each in self.logs if each.topic == topic]

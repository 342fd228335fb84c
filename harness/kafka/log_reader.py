"""Read raw log entries, including control markers, from the partition leader.

Consumers hide producer ids, epochs, sequences and markers, so this fetches raw batches with
kafka-python's protocol classes, read uncommitted. It always reads to the high watermark.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka.protocol.consumer import (
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
)
from kafka.record import MemoryRecords

from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.kafka.wire import Wire

_VERSION = 11  # the newest Fetch version with topic names and without flexible headers
_OFFSETS_VERSION = 5
_EARLIEST = -2
_OUT_OF_RANGE = 1
_BYTES = 8 * 1024 * 1024
_COMMIT_MARKER = 1


class UnreadableLog(RuntimeError):
    """A partition could not be read; the message names it and the broker's answer."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One entry of a log; `kind` is `data`, `commit` or `abort`."""

    topic: str
    partition: int
    offset: int
    kind: str
    key: bytes | None
    value: bytes | None
    headers: dict[str, bytes]
    producer_id: int
    epoch: int
    sequence: int
    transactional: bool


@dataclass(frozen=True, kw_only=True)
class PartitionLog:
    """The entries of one partition from the start offset of the read, and its end offsets."""

    topic: str
    partition: int
    log_start: int
    last_stable_offset: int
    high_watermark: int
    entries: list[Entry] = field(repr=False)

    def committed(self) -> list[bool]:
        """Return for each entry: not transactional, a marker, or followed by its commit marker."""
        decided = [not e.transactional for e in self.entries]
        open_: dict[int, list[int]] = {}
        for place, entry in enumerate(self.entries):
            if entry.kind == "data" and entry.transactional:
                open_.setdefault(entry.producer_id, []).append(place)
            elif entry.kind != "data":
                decided[place] = True
                for earlier in open_.pop(entry.producer_id, []):
                    decided[earlier] = entry.kind == "commit"
        return decided


class LogReader:
    """Read partitions through brokers' direct listeners (`bootstrap`). Not thread-safe.

    Reading raises `UnreadableLog` if a partition has no leader, or if the leader answers with an
    error or not at all.
    """

    def __init__(self, view: ClusterView, addresses: Mapping[int, str]) -> None:
        """Create a reader; `addresses` maps node ids to `host:port` of the auditor's listener."""
        self._view = view
        self._wires = {node: Wire(address) for node, address in addresses.items()}
        self.bootstrap = ",".join(address for _, address in sorted(addresses.items()))

    def close(self) -> None:
        for wire in self._wires.values():
            wire.close()
        self._view.close()

    def __enter__(self) -> LogReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, topic: str, partition: int, start: int = 0) -> PartitionLog:
        """Read a partition from `start` to its high watermark at the end of the read."""
        entries: list[Entry] = []
        position = start
        while True:
            answer = self._fetch(topic, partition, position)
            position = max(position, int(answer.log_start_offset))
            batch = list(_entries(topic, partition, bytes(answer.records or b""), position))
            entries += batch
            position = batch[-1].offset + 1 if batch else position
            if position >= answer.high_watermark:
                return PartitionLog(
                    topic=topic,
                    partition=partition,
                    log_start=answer.log_start_offset,
                    last_stable_offset=answer.last_stable_offset,
                    high_watermark=answer.high_watermark,
                    entries=entries,
                )
            if not batch:
                raise UnreadableLog(
                    f"{topic}-{partition}: no record at offset {position}, below the high "
                    f"watermark {answer.high_watermark}"
                )

    def read_topic(self, topic: str, starts: dict[int, int] | None = None) -> list[PartitionLog]:
        """Read every partition of a topic from its offset in `starts`, by default 0."""
        partitions = [p.partition for p in self._view.partitions(topic)]
        if not partitions:
            raise UnreadableLog(f"{topic} has no partitions, or no broker answers")
        return [self.read(topic, p, (starts or {}).get(p, 0)) for p in sorted(partitions)]

    def count(self, topic: str) -> int:
        """Return the number of partitions; 0 if there is no such topic, or no broker answers."""
        return len(self._view.partitions(topic))

    def high_watermarks(self, partitions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """Return the high watermarks of partitions, querying each topic once."""
        wanted = sorted(partitions)
        ends = {topic: self.ends(topic) for topic in {topic for topic, _ in wanted}}
        return {(topic, p): ends[topic][p][1] for topic, p in wanted}

    def ends(self, topic: str) -> dict[int, tuple[int, int]]:
        """Return (last stable offset, high watermark) of every partition."""
        found = {}
        for p in self._view.partitions(topic):
            # One byte is enough: a larger fetch would return records.
            answer = self._fetch(topic, p.partition, 0, limit=1, leader=p.leader)
            found[p.partition] = (answer.last_stable_offset, answer.high_watermark)
        return found

    def end(self, topic: str, partition: int) -> int:
        """Return the high watermark of one partition."""
        return int(self._fetch(topic, partition, 0, limit=1).high_watermark)

    def first(self, topic: str, partition: int) -> int:
        """Return the log start offset of a partition."""
        wanted = ListOffsetsRequest.ListOffsetsTopic
        one = wanted.ListOffsetsPartition(partition_index=partition, timestamp=_EARLIEST)
        request = ListOffsetsRequest(
            isolation_level=0, topics=[wanted(name=topic, partitions=[one])]
        )
        leader, found = self._ask(
            topic, partition, request, version=_OFFSETS_VERSION, answer=ListOffsetsResponse
        )
        result = found.topics[0].partitions[0]
        if result.error_code:
            raise UnreadableLog(
                f"{topic}-{partition}: broker {leader} answered error {result.error_code}"
            )
        return int(result.offset)

    def _fetch(
        self,
        topic: str,
        partition: int,
        offset: int,
        *,
        limit: int = _BYTES,
        leader: int | None = None,
    ) -> FetchResponse:
        """Fetch from an offset, or from the log start offset if that is higher."""
        wanted = FetchRequest.FetchTopic
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=limit,
            isolation_level=0,
            topics=[
                wanted(
                    topic=topic,
                    partitions=[
                        wanted.FetchPartition(
                            partition=partition, fetch_offset=offset, partition_max_bytes=limit
                        )
                    ],
                )
            ],
        )
        leader, answer = self._ask(
            topic, partition, request, version=_VERSION, answer=FetchResponse, leader=leader
        )
        found = answer.responses[0].partitions[0]
        if found.error_code == _OUT_OF_RANGE and (offset < (first := self.first(topic, partition))):
            return self._fetch(topic, partition, first, limit=limit)
        if found.error_code:
            raise UnreadableLog(
                f"{topic}-{partition}@{offset}: broker {leader} answered error {found.error_code}"
            )
        return found

    def _ask(
        self,
        topic: str,
        partition: int,
        request: Any,
        *,
        version: int,
        answer: Any,
        leader: int | None = None,
    ) -> tuple[int, Any]:
        """Send a request to the leader; return its node id and answer.

        Without `leader` it is looked up; -1 means that there is none.
        """
        if leader is None:
            leader = self._view.leader(topic, partition)
        if leader is None or leader < 0:
            raise UnreadableLog(f"{topic}-{partition} has no leader")
        wire = self._wires[leader]
        try:
            try:
                return leader, wire.ask(request, version=version, answer=answer)
            except ConnectionError:  # the broker restarted since the last request
                return leader, wire.ask(request, version=version, answer=answer)
        except OSError as error:
            raise UnreadableLog(f"{topic}-{partition}: broker {leader}: {error}") from error


def _entries(topic: str, partition: int, data: bytes, start: int) -> Iterator[Entry]:
    records = MemoryRecords(data)
    while records.has_next():
        batch = records.next_batch()
        if batch is None:
            return
        for place, record in enumerate(batch):
            if record.offset < start:
                continue  # a fetch returns the whole batch that contains the offset
            kind = "data"
            if batch.is_control_batch:
                _, marker = struct.unpack(">hh", record.key[:4])
                kind = "commit" if marker == _COMMIT_MARKER else "abort"
            yield Entry(
                topic=topic,
                partition=partition,
                offset=record.offset,
                kind=kind,
                key=record.key,
                value=record.value,
                headers={k: bytes(v or b"") for k, v in record.headers},
                producer_id=batch.producer_id,
                epoch=batch.producer_epoch,
                sequence=batch.base_sequence + place if batch.base_sequence >= 0 else -1,
                transactional=batch.is_transactional,
            )

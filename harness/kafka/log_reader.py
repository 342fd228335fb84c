"""Reading a log as the broker keeps it: every batch, control markers included, to its very end.

No consumer shows producer ids, epochs, sequences or markers, so this fetches
raw batches with kafka-python's protocol and record classes, uncommitted, directly from the leader.
Reading ends at the high watermark and never after a number of records.
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
    """A partition could not be read; the text says which and what the broker answered."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One entry of a log. `committed` is None while its transaction is undecided."""

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
    """The entries of one partition from where reading began, and the partition's ends."""

    topic: str
    partition: int
    log_start: int
    last_stable_offset: int
    high_watermark: int
    entries: list[Entry] = field(repr=False)

    def committed(self) -> list[bool]:
        """For each entry: outside any transaction, or followed by its commit marker."""
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
    """Reads partitions through a view's direct listener. Not thread-safe; close it after use.

    Attributes:
        bootstrap: the listeners through which it reads, as `host:port,…`.
    """

    def __init__(self, view: ClusterView, addresses: Mapping[int, str]) -> None:
        """`addresses` maps node ids to `host:port` of the auditor's listener."""
        self._view = view
        self._wires = {node: Wire(address) for node, address in addresses.items()}
        self.bootstrap = ",".join(address for _, address in sorted(addresses.items()))

    def close(self) -> None:
        """Close all connections, those of the view too."""
        for wire in self._wires.values():
            wire.close()
        self._view.close()

    def __enter__(self) -> LogReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, topic: str, partition: int, start: int = 0) -> PartitionLog:
        """Read a partition from `start` to its high watermark, as it is when reading ends.

        Raises:
            UnreadableLog: there is no leader, or it answered with an error or not at all.
        """
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
                    f"{topic}-{partition}: nothing at {position}, below the high watermark "
                    f"{answer.high_watermark}"
                )

    def read_topic(self, topic: str, starts: dict[int, int] | None = None) -> list[PartitionLog]:
        """Read every partition of a topic, each from its start in `starts` or from 0."""
        partitions = [p.partition for p in self._view.partitions(topic)]
        if not partitions:
            raise UnreadableLog(f"{topic} has no partitions, or no broker answers")
        return [self.read(topic, p, (starts or {}).get(p, 0)) for p in sorted(partitions)]

    def count(self, topic: str) -> int:
        """How many partitions a topic has; 0 if there is no such topic, or nobody answers."""
        return len(self._view.partitions(topic))

    def high_watermarks(self, partitions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """Where each of these partitions ends; every topic of theirs is asked once."""
        wanted = sorted(partitions)
        ends = {topic: self.ends(topic) for topic in {topic for topic, _ in wanted}}
        return {(topic, p): ends[topic][p][1] for topic, p in wanted}

    def ends(self, topic: str) -> dict[int, tuple[int, int]]:
        """(last stable offset, high watermark) of every partition."""
        found = {}
        for p in self._view.partitions(topic):
            # A fetch far behind the end would carry data; one byte is enough for the ends.
            answer = self._fetch(topic, p.partition, 0, limit=1, leader=p.leader)
            found[p.partition] = (answer.last_stable_offset, answer.high_watermark)
        return found

    def end(self, topic: str, partition: int) -> int:
        """The high watermark of one partition.

        Raises:
            UnreadableLog: there is no leader, or it answered with an error or not at all.
        """
        return int(self._fetch(topic, partition, 0, limit=1).high_watermark)

    def first(self, topic: str, partition: int) -> int:
        """The offset at which a partition begins: what lies before it was deleted.

        Raises:
            UnreadableLog: there is no leader, or it answered with an error or not at all.
        """
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
        """What the leader has from an offset on, or from its first if that comes later."""
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
        """Who leads a partition, and what it answers; `leader` is known, or -1 if there is none."""
        if leader is None:
            leader = self._view.leader(topic, partition)
        if leader is None or leader < 0:
            raise UnreadableLog(f"{topic}-{partition} has no leader")
        wire = self._wires[leader]
        try:
            try:
                return leader, wire.ask(request, version=version, answer=answer)
            except ConnectionError:  # the broker was started again since it was asked last
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
                continue  # a fetch answers with the whole batch that holds its offset
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

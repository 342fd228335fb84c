"""Positions of a group, read off Kafka's own log of them."""

from __future__ import annotations

import struct
from typing import Any

from onceproof.harness.kafka.group_offsets import Commit, commits, end_for
from onceproof.harness.kafka.keeping import partition_of
from onceproof.harness.kafka.log_reader import PartitionLog
from tests.unit.fakes.logs import entry, log

TOPIC = "__consumer_offsets"


def text(word: str) -> bytes:
    return struct.pack(">h", len(word.encode())) + word.encode()


def key(group: str, partition: int, *, version: int = 1) -> bytes:
    return (
        struct.pack(">h", version) + text(group) + text("payments") + struct.pack(">i", partition)
    )


def value(offset: int) -> bytes:
    return struct.pack(">hqi", 3, offset, -1) + text("") + struct.pack(">q", 0)


class Reader:
    """The log of one partition of three."""

    def __init__(self, *entries: dict[str, Any]) -> None:
        self.asked: list[tuple[str, int]] = []
        plain = {"topic": TOPIC, "key": None, "value": None, "transactional": False}
        self.entries = [entry(n, **plain | e) for n, e in enumerate(entries)]

    def count(self, topic: str) -> int:
        return 3

    def read(self, topic: str, partition: int, start: int = 0) -> PartitionLog:
        self.asked.append((topic, partition))
        return log(*(e for e in self.entries if e.offset >= start), topic=topic)

    def end(self, topic: str, partition: int) -> int:
        return len(self.entries)


def found(reader: Any, group: str = "billing") -> list[Commit]:
    return commits(reader, group)


def at(partition: int, offset: int, *, transactional: bool = False) -> Commit:
    return Commit(topic="payments", partition=partition, offset=offset, transactional=transactional)


def test_java_hashes_the_name() -> None:
    # "billing".hashCode() is -109829509.
    assert partition_of("billing", 2**31) == 109829509
    assert partition_of("ab", 1000) == (31 * 97 + 98) % 1000
    assert partition_of("", 7) == 0
    assert partition_of("polygenelubricants", 50) == 0, "the hash that has no absolute value"


def test_commits_in_their_order_and_of_this_group_only() -> None:
    reader = Reader(
        {"key": key("billing", 0), "value": value(5)},
        {"key": key("others", 0), "value": value(6)},
        {"key": key("billing", 2, version=0), "value": value(7)},
        {"key": key("billing", 0, version=2), "value": b"members"},
        {"key": key("billing", 0), "value": None},
        {"key": key("billing", 0), "value": value(9)},
    )
    assert found(reader) == [at(0, 5), at(2, 7), at(0, 9)]
    assert reader.asked == [("__consumer_offsets", partition_of("billing", 3))]


def test_of_transactions_only_what_was_committed() -> None:
    open_ = {"transactional": True, "producer": 1}
    reader = Reader(
        {"key": key("billing", 0), "value": value(5), **open_},
        {"kind": "commit", "producer": 1, "key": b""},
        {"key": key("billing", 0), "value": value(8), **open_},
        {"kind": "abort", "producer": 1, "key": b""},
        {"key": key("billing", 0), "value": value(11), **open_},
    )
    assert found(reader) == [at(0, 5, transactional=True)]


def test_before_any_group_there_is_no_such_log() -> None:
    reader = Reader()
    reader.count = lambda topic: 0  # type: ignore[method-assign]
    assert found(reader) == []
    assert reader.asked == []


def test_what_a_run_before_committed_is_left_out() -> None:
    reader: Any = Reader({"key": key("billing", 0), "value": value(2000)})
    since = end_for(reader, "billing")
    again: Any = Reader(
        {"key": key("billing", 0), "value": value(2000)},
        {"key": key("billing", 0), "value": None},
        {"key": key("billing", 0), "value": value(50)},
    )
    assert commits(again, "billing", since) == [at(0, 50)]
    nobody: Any = Reader()
    nobody.count = lambda topic: 0
    assert end_for(nobody, "billing") == 0

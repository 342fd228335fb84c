"""Commits of a group, read from `__consumer_offsets`."""

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
    """Reads a topic of three partitions, of which one has entries."""

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


def commits_of(reader: Any, group: str = "billing") -> list[Commit]:
    return commits(reader, group)


def commit(partition: int, offset: int, *, transactional: bool = False) -> Commit:
    return Commit(topic="payments", partition=partition, offset=offset, transactional=transactional)


def test_partition_of_uses_javas_string_hash() -> None:
    # "billing".hashCode() is -109829509.
    assert partition_of("billing", 2**31) == 109829509
    assert partition_of("ab", 1000) == (31 * 97 + 98) % 1000
    assert partition_of("", 7) == 0
    assert partition_of("polygenelubricants", 50) == 0, "the hash that has no absolute value"


def test_commits_of_one_group_in_log_order() -> None:
    reader = Reader(
        {"key": key("billing", 0), "value": value(5)},
        {"key": key("others", 0), "value": value(6)},
        {"key": key("billing", 2, version=0), "value": value(7)},
        {"key": key("billing", 0, version=2), "value": b"members"},
        {"key": key("billing", 0), "value": None},
        {"key": key("billing", 0), "value": value(9)},
    )
    assert commits_of(reader) == [commit(0, 5), commit(2, 7), commit(0, 9)]
    assert reader.asked == [("__consumer_offsets", partition_of("billing", 3))]


def test_only_committed_transactions_count() -> None:
    in_transaction = {"transactional": True, "producer": 1}
    reader = Reader(
        {"key": key("billing", 0), "value": value(5), **in_transaction},
        {"kind": "commit", "producer": 1, "key": b""},
        {"key": key("billing", 0), "value": value(8), **in_transaction},
        {"kind": "abort", "producer": 1, "key": b""},
        {"key": key("billing", 0), "value": value(11), **in_transaction},
    )
    assert commits_of(reader) == [commit(0, 5, transactional=True)]


def test_missing_offsets_topic_has_no_commits() -> None:
    reader = Reader()
    reader.count = lambda topic: 0  # type: ignore[method-assign]
    assert commits_of(reader) == []
    assert reader.asked == []


def test_commits_before_the_given_offset_are_ignored() -> None:
    reader: Any = Reader({"key": key("billing", 0), "value": value(2000)})
    since = end_for(reader, "billing")
    later: Any = Reader(
        {"key": key("billing", 0), "value": value(2000)},
        {"key": key("billing", 0), "value": None},
        {"key": key("billing", 0), "value": value(50)},
    )
    assert commits(later, "billing", since) == [commit(0, 50)]
    empty: Any = Reader()
    empty.count = lambda topic: 0
    assert end_for(empty, "billing") == 0

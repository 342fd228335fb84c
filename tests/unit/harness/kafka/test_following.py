"""Incremental readers of logs return what a full read returns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onceproof.harness.kafka.following import EntryCache, Followers
from onceproof.harness.kafka.log_reader import PartitionLog, UnreadableLog
from tests.unit.fakes.logs import entry
from tests.unit.fakes.logs import log as made

PARTITION = "orders", 0


class Log:
    """A partition's log on its leader; gaps between offsets stand for control batches."""

    def __init__(self, offsets: list[int] | None = None) -> None:
        self.offsets = offsets or []
        self.first = 0
        self.stable = self.end
        self.fetched: list[int] = []
        self.gone = False

    @property
    def end(self) -> int:
        return self.offsets[-1] + 1 if self.offsets else 0

    def read(self, topic: str, partition: int, start: int) -> PartitionLog:
        assert (topic, partition) == PARTITION
        if self.gone or start > self.end:
            raise UnreadableLog("out of range")
        present = [n for n in self.offsets if n >= max(start, self.first)]
        self.fetched += present
        entries = [entry(n, topic=topic) for n in present]
        whole = made(*entries, topic=topic, end=self.end)
        return replace(whole, log_start=self.first, last_stable_offset=self.stable)


GROWN = st.tuples(st.just("grown"), st.integers(1, 3))
STABLE = st.tuples(st.just("stable"), st.integers(0, 3))
DELETED = st.tuples(st.just("deleted"), st.integers(0, 3))


@given(st.lists(st.one_of(GROWN, GROWN, STABLE, DELETED), max_size=12))
@example([("grown", 1), ("stable", 0), ("grown", 1), ("deleted", 1)])
def test_incremental_read_equals_full_read(changes: list[tuple[str, int]]) -> None:
    log, remembered = Log(), EntryCache()
    for change, by in changes:
        if change == "grown":
            log.offsets.append(log.end + by - 1)
        elif change == "stable":
            log.stable = max(log.stable, log.end - by)
        else:
            log.first = min(log.first + by, log.stable)
        assert remembered.whole(log.read, *PARTITION) == log.read(*PARTITION, 0)


def test_entries_below_last_stable_offset_are_fetched_once() -> None:
    log, remembered = Log([0, 1, 2]), EntryCache()
    log.stable = 2
    for _ in range(3):
        remembered.whole(log.read, *PARTITION)
    assert log.fetched == [0, 1, 2, 2, 2]


def test_truncated_log_is_read_again() -> None:
    log, remembered = Log([0, 1, 2, 3]), EntryCache()
    remembered.whole(log.read, *PARTITION)
    log.offsets, log.stable = [0, 1], 2
    with pytest.raises(UnreadableLog):  # the leader knows no such offset
        remembered.whole(log.read, *PARTITION)
    assert [e.offset for e in remembered.whole(log.read, *PARTITION).entries] == [0, 1]


def test_failed_read_clears_the_remembered_log() -> None:
    log, remembered = Log([0, 1]), EntryCache()
    remembered.whole(log.read, *PARTITION)
    log.gone = True
    with pytest.raises(UnreadableLog):
        remembered.whole(log.read, *PARTITION)
    log.gone = False
    assert len(remembered.whole(log.read, *PARTITION).entries) == 2
    assert log.fetched == [0, 1, 0, 1]


def test_reader_is_reused_unless_it_failed() -> None:
    followers = Followers({})
    with followers.reader() as first, followers.reader() as second:
        assert first is not second
    with followers.reader() as third:
        assert third in (first, second)
        with pytest.raises(UnreadableLog), followers.reader() as failed:
            raise UnreadableLog("gone")
    with followers.reader() as one, followers.reader() as other:
        assert failed not in (one, other)
    followers.close()
    with followers.reader() as fresh:
        assert fresh not in (first, second)

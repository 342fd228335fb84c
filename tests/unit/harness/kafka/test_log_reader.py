"""Reading partition logs: which entries are committed, and where reading ends."""

from __future__ import annotations

import struct
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kafka.record.memory_records import MemoryRecordsBuilder

from onceproof.harness.kafka.log_reader import Entry, LogReader, PartitionLog, UnreadableLog
from tests.unit.fakes import logs
from tests.unit.fakes.stage import FakeStage, FakeView

TOPIC = "payments"
VIEW = FakeView(FakeStage(said={(TOPIC, 2): (1, {1})}))


def entry(offset: int, producer: int, what: str) -> Entry:
    marker = what in {"commit", "abort"}
    kind = what if marker else "data"
    return logs.entry(offset, kind=kind, producer=producer, transactional=what != "plain")


def log_of(steps: list[tuple[int, str]]) -> PartitionLog:
    return logs.log(*(entry(n, producer, what) for n, (producer, what) in enumerate(steps)))


def is_committed(steps: list[tuple[int, str]], place: int) -> bool:
    """The definition: the producer's next marker is a commit."""
    producer, what = steps[place]
    if what != "txn":
        return True
    for other, later in steps[place + 1 :]:
        if other == producer and later in {"commit", "abort"}:
            return later == "commit"
    return False


PLAIN, ONE, TWO = -1, 7, 8
steps = st.lists(
    st.one_of(
        st.just((PLAIN, "plain")),
        st.tuples(st.sampled_from([5, 6]), st.just("plain")),  # idempotent, no transaction
        st.tuples(
            st.sampled_from([ONE, TWO, 9]), st.sampled_from(["txn", "txn", "commit", "abort"])
        ),
    ),
    max_size=30,
)


@given(steps)
@example([(ONE, "txn"), (TWO, "txn"), (ONE, "abort"), (TWO, "commit"), (ONE, "txn")])
@example([(ONE, "txn"), (PLAIN, "plain"), (ONE, "commit"), (ONE, "txn"), (ONE, "abort")])
@example([(ONE, "commit"), (ONE, "txn")])
def test_committed_matches_the_definition(drawn: list[tuple[int, str]]) -> None:
    expected = [is_committed(drawn, place) for place in range(len(drawn))]
    assert log_of(drawn).committed() == expected


def test_open_transaction_is_not_committed() -> None:
    log = log_of([(ONE, "txn"), (PLAIN, "plain"), (TWO, "txn"), (TWO, "commit")])
    assert log.committed() == [False, True, True, True]


def test_marker_applies_to_earlier_entries_of_its_producer() -> None:
    log = log_of([(ONE, "txn"), (TWO, "txn"), (ONE, "commit"), (ONE, "txn"), (TWO, "abort")])
    assert log.committed() == [True, False, True, False, True]


# Reading. The broker is a function from an offset to a fetch response.


def batch(
    first: int, values: list[bytes], *, producer: int = -1, sequence: int = -1,
    transactional: bool = False,
) -> bytes:  # fmt: skip
    builder = MemoryRecordsBuilder(
        2, 0, 1 << 20, offset=first, transactional=transactional, producer_id=producer,
        producer_epoch=3 if producer >= 0 else -1, base_sequence=sequence,
    )  # fmt: skip
    for value in values:
        builder.append(timestamp=0, key=b"k", value=value, headers=[("h", value), ("none", None)])
    builder.close()
    return bytes(builder.buffer())


def marker(offset: int, producer: int, kind: int) -> bytes:
    """A control batch, made from an ordinary one: its key is (version, type)."""
    builder = MemoryRecordsBuilder(
        2, 0, 1 << 10, offset=offset, transactional=True, producer_id=producer, producer_epoch=3,
        base_sequence=0,
    )  # fmt: skip
    builder.append(timestamp=0, key=struct.pack(">hh", 0, kind), value=b"\0" * 6, headers=[])
    builder.close()
    data = bytearray(builder.buffer())
    (attributes,) = struct.unpack_from(">h", data, 21)
    struct.pack_into(">h", data, 21, attributes | 0x20)  # "is a control batch"
    return bytes(data)


class Reader(LogReader):
    """Fetches from a function, and records the offsets in `asked`."""

    def __init__(self, answer: Callable[[int], dict[str, Any]]) -> None:
        super().__init__(VIEW, {})
        self.answer, self.asked = answer, list[int]()

    def _fetch(self, topic: str, partition: int, offset: int, **_: Any) -> Any:
        self.asked.append(offset)
        assert (topic, partition) == (TOPIC, 2)
        plain = {"log_start_offset": 0, "last_stable_offset": 0}
        return SimpleNamespace(**plain | self.answer(offset))


def reader(answer: Callable[[int], dict[str, Any]]) -> tuple[LogReader, list[int]]:
    made = Reader(answer)
    return made, made.asked


def test_read_ends_at_the_high_watermark() -> None:
    stored = {
        0: batch(0, [b"a", b"b"]),
        2: batch(2, [b"c"], producer=9, sequence=41, transactional=True),
        3: marker(3, 9, 1),
        4: batch(4, [b"d", b"e"], producer=9, sequence=42, transactional=True),
        6: marker(6, 9, 0),
    }
    opened, asked = reader(
        lambda offset: {"records": stored[offset], "high_watermark": 7, "last_stable_offset": 7},
    )
    log = opened.read(TOPIC, 2)
    assert asked == [0, 2, 3, 4, 6]
    assert [(e.offset, e.kind) for e in log.entries] == [
        (0, "data"), (1, "data"), (2, "data"), (3, "commit"), (4, "data"), (5, "data"),
        (6, "abort"),
    ]  # fmt: skip
    assert [e.producer_id for e in log.entries] == [-1, -1, 9, 9, 9, 9, 9]
    assert [e.sequence for e in log.entries if e.kind == "data"] == [-1, -1, 41, 42, 43]
    assert [e.transactional for e in log.entries] == [False, False, *[True] * 5]
    assert log.committed() == [True, True, True, True, False, False, True]
    assert log.entries[0].headers == {"h": b"a", "none": b""}
    assert (log.entries[0].key, log.entries[0].value) == (b"k", b"a")
    assert (log.last_stable_offset, log.high_watermark) == (7, 7)


def test_growing_log_is_read_to_its_latest_high_watermark() -> None:
    opened, asked = reader(
        lambda offset: {
            "records": batch(offset, [b"x"]), "high_watermark": 2 if offset == 0 else 4,
        },
    )  # fmt: skip
    assert [e.offset for e in opened.read(TOPIC, 2).entries] == [0, 1, 2, 3]
    assert asked == [0, 1, 2, 3]


def test_read_may_start_inside_a_batch() -> None:
    opened, _ = reader(
        lambda _: {"records": batch(0, [b"a", b"b", b"c"], producer=4, sequence=10),
                   "high_watermark": 3},
    )  # fmt: skip
    entries = opened.read(TOPIC, 2, 1).entries
    assert [(e.offset, e.sequence, e.value) for e in entries] == [(1, 11, b"b"), (2, 12, b"c")]


def test_batch_truncated_by_the_fetch_size_is_refetched() -> None:
    whole, second = batch(0, [b"a"]), batch(1, [b"b"])

    def answer(offset: int) -> dict[str, Any]:
        return {"records": whole + second[:-5] if offset == 0 else second, "high_watermark": 2}

    opened, asked = reader(answer)
    assert [e.value for e in opened.read(TOPIC, 2).entries] == [b"a", b"b"]
    assert asked == [0, 1]


def test_entries_below_log_start_are_left_out() -> None:
    records = batch(0, [b"a", b"b", b"c", b"d"])
    opened, _ = reader(lambda _: {"records": records, "high_watermark": 4, "log_start_offset": 2})
    log = opened.read(TOPIC, 2)
    assert ([e.offset for e in log.entries], log.log_start) == ([2, 3], 2)


def test_empty_partition_has_no_entries() -> None:
    opened, _ = reader(lambda _: {"records": None, "high_watermark": 0})
    assert opened.read(TOPIC, 2).entries == []


def test_empty_fetch_below_high_watermark_is_an_error() -> None:
    opened, _ = reader(lambda _: {"records": b"", "high_watermark": 5})
    with pytest.raises(UnreadableLog, match=r"payments-2: no record at offset 3, below .* 5"):
        opened.read(TOPIC, 2, 3)


def test_partition_without_leader_is_an_error() -> None:
    opened = LogReader(FakeView(FakeStage(said={})), {})
    with pytest.raises(UnreadableLog, match="payments-2 has no leader"):
        opened.read(TOPIC, 2)
    with pytest.raises(UnreadableLog, match="payments has no partitions, or no broker answers"):
        opened.read_topic(TOPIC)


def test_unreachable_leader_is_an_error() -> None:
    opened = LogReader(VIEW, {1: "127.0.0.1:1"})
    with pytest.raises(UnreadableLog, match=r"payments-2: broker 1: .*refused"):
        opened.read(TOPIC, 2)


def test_error_code_of_a_broker_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = SimpleNamespace(error_code=6)
    answer = SimpleNamespace(responses=[SimpleNamespace(partitions=[failed])])
    opened = LogReader(VIEW, {})
    monkeypatch.setitem(opened._wires, 1, SimpleNamespace(ask=lambda *_, **__: answer))
    with pytest.raises(UnreadableLog, match="payments-2@4: broker 1 answered error 6"):
        opened.read(TOPIC, 2, 4)

"""Reading real logs: all kinds of producers, markers and open transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from onceproof.harness.context.run_context import addresses, open_reader
from onceproof.harness.kafka.log_reader import Entry, LogReader, UnreadableLog
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.links.topology import AUDITOR
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration

Make = Callable[..., str]


@pytest.fixture
def reader(staging: Staged) -> Iterator[LogReader]:
    with open_reader(staging.stage, ClusterView(addresses(staging.stage))) as opened:
        yield opened


def producer(staging: Staged, **settings: object) -> Producer:
    return Producer(
        {
            "bootstrap.servers": staging.stage.bootstrap("producer"),
            "log_level": 0,
            "linger.ms": 100,
            **settings,
        }
    )


def send(client: Producer, topic: str, values: list[str], partition: int = 0) -> list[int]:
    """Send values and wait; return their acknowledged offsets in order."""
    offsets: list[int] = []

    def acknowledged(error: KafkaError | None, message: object) -> None:
        assert error is None, error
        offsets.append(message.offset())  # type: ignore[attr-defined]

    for value in values:
        client.produce(
            topic, value.encode(), key=f"k-{value}".encode(), partition=partition,
            headers=[("h", value.encode())], on_delivery=acknowledged,
        )  # fmt: skip
    assert client.flush(30) == 0
    return offsets


def consumer(staging: Staged, isolation: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": staging.stage.bootstrap(AUDITOR),
            "group.id": "nobody",
            "isolation.level": isolation,
            "enable.partition.eof": True,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "log_level": 0,
        }
    )


def consumed(staging: Staged, topic: str, isolation: str) -> tuple[list[tuple[int, str]], int]:
    """Records that librdkafka's consumer reads, and the end offset of its view."""
    client = consumer(staging, isolation)
    start = TopicPartition(topic, 0, 0)
    end = client.get_watermark_offsets(start, timeout=20, cached=False)[1]
    client.assign([start])
    found = []
    while True:
        message = client.poll(20)
        assert message is not None, "the consumer came to no end"
        if message.error():
            assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
            break
        found.append((message.offset(), message.value().decode()))
    client.close()
    return found, end


def values(entries: list[Entry]) -> list[tuple[int, str]]:
    return [(e.offset, (e.value or b"").decode()) for e in entries if e.kind == "data"]


def use_small_fetches(reader: LogReader, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Limit fetches to one byte: a broker then sends one batch. Return the fetched offsets."""
    fetched: list[int] = []
    fetch = reader._fetch

    def counting(topic: str, partition: int, offset: int, **_: int) -> object:
        fetched.append(offset)
        return fetch(topic, partition, offset, limit=1)

    monkeypatch.setattr(reader, "_fetch", counting)
    return fetched


def test_reads_records_and_markers_of_every_kind_of_producer(
    staging: Staged, topic: Make, reader: LogReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = topic()
    non_idempotent = send(producer(staging), name, ["p0", "p1"])
    idempotent = send(producer(staging, **{"enable.idempotence": True}), name, ["i0", "i1", "i2"])
    client = producer(staging, **{"transactional.id": name})
    client.init_transactions(30)
    client.begin_transaction()
    first = send(client, name, ["c0", "c1"])
    between = send(producer(staging), name, ["between"])
    client.commit_transaction(30)
    client.begin_transaction()
    aborted = send(client, name, ["a0"])
    client.abort_transaction(30)
    client.begin_transaction()
    open_ = send(client, name, ["o0", "o1"])
    behind = send(producer(staging), name, ["behind"])

    log = reader.read(name, 0)
    assert [e.offset for e in log.entries] == list(range(log.high_watermark))
    kinds = {e.offset: e.kind for e in log.entries if e.kind != "data"}
    assert sorted(kinds.values()) == ["abort", "commit"]
    # One marker directly behind each ended transaction.
    assert kinds == {between[-1] + 1: "commit", aborted[-1] + 1: "abort"}
    data = {e.offset: e for e in log.entries if e.kind == "data"}
    assert sorted(data) == sorted(
        non_idempotent + idempotent + first + between + aborted + open_ + behind
    )

    committed = dict(zip((e.offset for e in log.entries), log.committed(), strict=True))
    assert all(
        committed[n] for n in [*non_idempotent, *idempotent, *first, *between, *behind, *kinds]
    )
    assert not any(committed[n] for n in [*aborted, *open_])

    assert {data[n].producer_id for n in non_idempotent + between + behind} == {-1}
    assert {data[n].sequence for n in non_idempotent + between + behind} == {-1}
    assert [data[n].sequence for n in idempotent] == [0, 1, 2]
    assert len({(data[n].producer_id, data[n].epoch) for n in idempotent}) == 1
    of_transactions = {e.producer_id for e in log.entries if e.transactional}
    assert len(of_transactions) == 1
    assert of_transactions.isdisjoint({-1, data[idempotent[0]].producer_id})
    assert {n for n, e in data.items() if e.transactional} == {*first, *aborted, *open_}
    assert min(e.epoch for e in log.entries if e.transactional) >= 0
    by_sequence = [(data[n].epoch, data[n].sequence) for n in (*first, *aborted, *open_)]
    assert len(set(by_sequence)) == 5
    assert [s for _, s in by_sequence[:2]] == [0, 1]

    c0 = data[first[0]]
    assert (c0.key, c0.value, c0.headers) == (b"k-c0", b"c0", {"h": b"c0"})

    # The last transaction is open: it bounds the last stable offset, not the read.
    assert log.last_stable_offset == open_[0] < behind[0] < log.high_watermark == behind[0] + 1
    assert reader.ends(name) == {0: (log.last_stable_offset, log.high_watermark)}
    with monkeypatch.context() as steps:
        use_small_fetches(reader, steps)
        assert reader.read(name, 0) == log

    # librdkafka reads the same, with both isolation levels.
    assert consumed(staging, name, "read_uncommitted") == (values(log.entries), log.high_watermark)
    stable = [e for e in log.entries if e.offset < log.last_stable_offset and committed[e.offset]]
    assert consumed(staging, name, "read_committed") == (values(stable), log.last_stable_offset)

    client.commit_transaction(30)
    eventually(
        lambda: len({*reader.ends(name)[0]}) == 1,
        "last stable offset = high watermark",
        lambda: reader.ends(name),
    )
    log = reader.read(name, 0)
    assert (log.entries[-1].kind, log.entries[-1].offset) == ("commit", behind[0] + 1)
    committed = dict(zip((e.offset for e in log.entries), log.committed(), strict=True))
    assert all(committed[n] for n in open_)
    assert [n for n, is_committed in committed.items() if not is_committed] == aborted


def test_reads_marker_at_the_end_of_the_log(
    staging: Staged, topic: Make, reader: LogReader
) -> None:
    name = topic()
    client = producer(staging, **{"transactional.id": name})
    client.init_transactions(30)
    client.begin_transaction()
    send(client, name, ["a"])
    client.abort_transaction(30)
    eventually(lambda: reader.ends(name)[0] == (2, 2), "the marker", lambda: reader.ends(name))
    log = reader.read(name, 0)
    assert [(e.offset, e.kind) for e in log.entries] == [(0, "data"), (1, "abort")]
    assert log.committed() == [False, True]


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_reads_in_small_fetches_and_from_any_offset(
    staging: Staged, topic: Make, reader: LogReader, monkeypatch: pytest.MonkeyPatch,
    compression: str,
) -> None:  # fmt: skip
    name = topic()
    client = producer(staging, **{"compression.type": compression})
    for n in range(6):
        send(client, name, [f"{n}-{m}" for m in range(5)])  # one batch per call
    complete = reader.read(name, 0)
    assert len(complete.entries) == 30
    assert reader.read(name, 0, 12).entries == complete.entries[12:]
    assert reader.read(name, 0, 29).entries == complete.entries[29:]
    assert reader.read(name, 0, 30).entries == []
    fetched = use_small_fetches(reader, monkeypatch)
    assert reader.read(name, 0).entries == complete.entries
    assert len(fetched) >= 6


def test_reads_all_partitions_of_a_topic(staging: Staged, topic: Make, reader: LogReader) -> None:
    name = topic(3)
    client = producer(staging)
    for partition, partition_values in enumerate((["a"], [], ["b", "c"])):
        send(client, name, partition_values, partition)
    logs = reader.read_topic(name)
    assert [(log.partition, len(log.entries)) for log in logs] == [(0, 1), (1, 0), (2, 2)]
    assert reader.ends(name) == {0: (1, 1), 1: (0, 0), 2: (2, 2)}
    logs = reader.read_topic(name, {2: 1})
    assert [[e.value for e in log.entries] for log in logs] == [[b"a"], [], [b"c"]]


def test_missing_topic_is_unreadable(reader: LogReader) -> None:
    with pytest.raises(UnreadableLog, match="nowhere has no partitions, or no broker answers"):
        reader.read_topic("nowhere")
    with pytest.raises(UnreadableLog, match="nowhere-0 has no leader"):
        reader.read("nowhere", 0)


def test_offset_beyond_the_end_is_unreadable(
    staging: Staged, topic: Make, reader: LogReader
) -> None:
    name = topic()
    with pytest.raises(UnreadableLog, match=rf"{name}-0@7: broker \d answered error 1"):
        reader.read(name, 0, 7)


def test_reads_from_the_new_log_start_after_deletion(
    staging: Staged, topic: Make, reader: LogReader
) -> None:
    name = topic()
    send(producer(staging), name, ["a", "b", "c"])
    admin = AdminClient({"bootstrap.servers": staging.stage.bootstrap(AUDITOR), "log_level": 0})
    (done,) = admin.delete_records([TopicPartition(name, 0, 2)]).values()
    assert done.result(30).low_watermark == 2
    assert reader.ends(name) == {0: (3, 3)}
    log = reader.read(name, 0)
    assert (log.log_start, [e.offset for e in log.entries]) == (2, [2])

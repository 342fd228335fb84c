"""Consumers whose database refuses a write or does not answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from onceproof.harness.subjects.stored.batch import Batch, batch_of
from onceproof.harness.subjects.stored.member import StoringMember
from onceproof.harness.subjects.stored.store import Refused, Unreachable
from onceproof.harness.subjects.stored.task import StoringTask

TOPIC = "payments"


class EndOfInput(Exception):
    """All messages have been read."""


class Message:
    def __init__(self, partition: int, offset: int) -> None:
        self._place = (partition, offset)
        self._payment = {"record": f"r{partition}-{offset}", "account": "a", "amount_cents": 1000}

    def error(self) -> None:
        return None

    def partition(self) -> int:
        return self._place[0]

    def offset(self) -> int:
        return self._place[1]

    def value(self) -> bytes:
        return json.dumps(self._payment).encode()


class FakeConsumer:
    """Returns up to `step` messages from its position."""

    def __init__(self, *, ends: dict[int, int], step: int = 2) -> None:
        self.ends = ends
        self.step = step
        self.refuses = 0
        self.at: dict[int, int] = {}
        self.committed: list[tuple[int, int]] = []
        self.seeks: list[tuple[int, int]] = []
        self.on_assign: Callable[..., None] | None = None

    def subscribe(self, topics: list[str], **callbacks: Any) -> None:
        self.on_assign = callbacks.get("on_assign")

    def assign(self, places: list[TopicPartition]) -> None:
        self.at = {place.partition: place.offset for place in places}

    def assignment(self) -> list[TopicPartition]:
        return [TopicPartition(TOPIC, partition) for partition in self.ends]

    def seek(self, place: TopicPartition) -> None:
        self.seeks.append((place.partition, place.offset))
        self.at[place.partition] = place.offset

    def commit(self, *, offsets: list[TopicPartition], asynchronous: bool) -> None:
        if self.refuses:
            self.refuses -= 1
            raise KafkaException(KafkaError(KafkaError.ILLEGAL_GENERATION))
        self.committed += [(place.partition, place.offset) for place in offsets]

    def consume(self, count: int, seconds: float) -> list[Message]:
        if self.on_assign is not None:
            self.on_assign(self, self.assignment())
            self.on_assign = None
        for partition, end in self.ends.items():
            position = self.at.setdefault(partition, 0)
            if position < end:
                self.at[partition] = min(end, position + self.step)
                return [Message(partition, n) for n in range(position, self.at[partition])]
        raise EndOfInput


Answer = Literal["ok", "lost", "undone"]


class FakeStore:
    """Stores rows; each of `answers` is the outcome of the next write."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.offsets: dict[int, int] = {}
        self.rows: list[str] = []
        self.cleaned: list[list[str]] = []
        self.meanwhile: dict[int, int] = {}

    def stored(self, topic: str, partitions: Iterable[int]) -> dict[int, int]:
        return {p: self.offsets.get(p, 0) for p in partitions}

    def write(self, batch: Batch, *, offsets: bool) -> None:
        answer = self.answers.pop(0) if self.answers else "ok"
        self.offsets |= self.meanwhile
        self.meanwhile = {}
        if offsets and any(self.offsets.get(p, 0) != start for p, start in batch.starts.items()):
            raise Refused("another offset is stored")
        if answer != "undone":
            self.rows += [row[0] for row in batch.rows]
            self.offsets |= batch.ends if offsets else {}
        if answer != "ok":
            raise Unreachable("gone")

    def clean(self, batch: Batch) -> None:
        self.rows = list(dict.fromkeys(self.rows))
        self.cleaned += [[row[0] for row in batch.rows]]


def run(
    tmp_path: Path,
    store: FakeStore,
    consumer: FakeConsumer,
    commits: str = "in-transaction",
    *,
    cleans: bool = False,
) -> list[dict[str, Any]]:
    """Run a member to the end of its input; return the hazards that it reported."""
    task = StoringTask(
        name="member-0", bootstrap="", group="billing", topic=TOPIC, sink="ledger",
        commits=commits, kind="sqlite", database="", history=str(tmp_path), batch=2,
        in_hand=str(tmp_path / "in-hand"), cleans=cleans,
    )  # type: ignore[arg-type]  # fmt: skip
    with pytest.raises(EndOfInput):
        StoringMember(task, consumer, store).run()  # type: ignore[arg-type]
    lines = [line for f in tmp_path.glob("member-0-*.jsonl") for line in f.read_text().splitlines()]
    return [row for row in map(json.loads, lines) if row["t"] == "hazards"]


ALL = ["r0-0", "r0-1", "r0-2", "r0-3"]


def test_starts_at_the_stored_offset(tmp_path: Path) -> None:
    store, consumer = FakeStore(), FakeConsumer(ends={0: 4})
    store.offsets = {0: 2}
    assert run(tmp_path, store, consumer) == []
    assert (store.rows, store.offsets, consumer.committed) == (["r0-2", "r0-3"], {0: 4}, [])


def test_commit_with_lost_answer_is_not_repeated(tmp_path: Path) -> None:
    store, consumer = FakeStore("ok", "lost"), FakeConsumer(ends={0: 4})
    assert run(tmp_path, store, consumer) == [], "it did not try again"
    assert (store.rows, consumer.seeks) == (ALL, [(0, 4)])


def test_undone_commit_is_repeated(tmp_path: Path) -> None:
    store, consumer = FakeStore("undone", "undone"), FakeConsumer(ends={0: 4})
    run(tmp_path, store, consumer)
    assert (store.rows, consumer.seeks) == (ALL, [])


def test_refused_write_is_reported_and_seeks_to_the_stored_offset(tmp_path: Path) -> None:
    store, consumer = FakeStore(), FakeConsumer(ends={0: 4})
    store.meanwhile = {0: 3}
    (hazard,) = run(tmp_path, store, consumer)
    assert (hazard["hazard"], hazard["hop"], hazard["owner"]) == (
        "refused-write",
        "process",
        "billing",
    )
    assert (store.rows, consumer.seeks) == (["r0-3"], [(0, 3)])


def test_refused_write_discards_buffered_records(tmp_path: Path) -> None:
    store, consumer = FakeStore(), FakeConsumer(ends={0: 8}, step=8)
    store.meanwhile = {0: 7}
    assert len(run(tmp_path, store, consumer)) == 1
    assert (store.rows, consumer.seeks) == (["r0-7"], [(0, 7)])


def test_commit_that_lands_late_is_not_repeated(tmp_path: Path) -> None:
    store, consumer = FakeStore("undone"), FakeConsumer(ends={0: 4})
    stored = store.stored

    def stored_after_landing(topic: str, partitions: Iterable[int]) -> dict[int, int]:
        if len(store.answers) == 0 and not store.rows:
            store.meanwhile = {0: 2}
            store.rows = ["r0-0", "r0-1"]
        return stored(topic, partitions)

    store.stored = stored_after_landing  # type: ignore[method-assign]
    (hazard,) = run(tmp_path, store, consumer)
    assert hazard["hazard"] == "refused-write"
    assert store.rows == ALL


def test_committing_offsets_first_loses_payments(tmp_path: Path) -> None:
    store, consumer = FakeStore("undone"), FakeConsumer(ends={0: 4})
    run(tmp_path, store, consumer, "before")
    assert (store.rows, consumer.committed) == (["r0-2", "r0-3"], [(0, 2), (0, 4)])


def test_committing_offsets_last_repeats_payments(tmp_path: Path) -> None:
    store, consumer = FakeStore("lost"), FakeConsumer(ends={0: 4})
    run(tmp_path, store, consumer, "after")
    assert (store.rows, consumer.committed) == (["r0-0", "r0-1", *ALL], [(0, 2), (0, 4)])


def test_repeated_rows_are_cleaned(tmp_path: Path) -> None:
    store, consumer = FakeStore("lost"), FakeConsumer(ends={0: 4})
    run(tmp_path, store, consumer, "after", cleans=True)
    assert (store.rows, consumer.committed) == (ALL, [(0, 2), (0, 4)])
    assert store.cleaned == [ALL[:2], ALL[2:]]


def test_refused_offsets_after_a_write_lose_no_rows(tmp_path: Path) -> None:
    store, consumer = FakeStore(), FakeConsumer(ends={0: 4}, step=4)
    consumer.refuses = 1
    run(tmp_path, store, consumer, "after")
    assert (store.rows, consumer.committed) == (ALL, [(0, 4)])


def test_batch_with_refused_offsets_is_not_written(tmp_path: Path) -> None:
    store, consumer = FakeStore(), FakeConsumer(ends={0: 4})
    consumer.refuses = 1
    run(tmp_path, store, consumer, "before")
    assert (store.rows, consumer.committed) == (["r0-2", "r0-3"], [(0, 4)])


def test_batch_includes_only_assigned_partitions() -> None:
    read = [Message(0, 5), Message(1, 7), Message(0, 6)]
    batch = batch_of(TOPIC, read, {0: 4, 2: 0})  # type: ignore[arg-type]
    assert [row[0] for row in batch.rows] == ["r0-5", "r0-6"]
    assert (batch.starts, batch.ends) == ({0: 4}, {0: 7})


def test_totals_are_sorted_by_account() -> None:
    rows = tuple((f"r{n}", account, n, 0, 0, n) for n, account in enumerate("bab", start=1))
    assert Batch(topic=TOPIC, rows=rows, starts={0: 1}, ends={0: 4}).totals() == [
        ("a", 2, 1),
        ("b", 4, 2),
    ]


def test_task_survives_save_and_load(tmp_path: Path) -> None:
    task = StoringTask(
        name="member-0", bootstrap="b", group="g", topic=TOPIC, sink="ledger", commits="after",
        kind="postgres", database="host=x", history="h", in_hand="i", guard=False,
    )  # fmt: skip
    task.save(tmp_path / "task.json")
    assert StoringTask.load(tmp_path / "task.json") == task

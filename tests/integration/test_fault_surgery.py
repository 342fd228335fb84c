"""Surgery on group offsets, transactional ids and logs, observed by other clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.by_hand import asked
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.processes.trouble import StageTrouble
from tests.integration.faults import active_fault, context
from tests.integration.staging import Staged, eventually
from tests.integration.transactions import SECONDS, SETTINGS, Background, Reader, producer, send

pytestmark = pytest.mark.integration


@dataclass
class Hazards:
    """A fake recorder that collects hazards."""

    seen: list[tuple[str, str]] = field(default_factory=list)

    def hazard(self, hazard: str, *, hop: str, detail: str, **_: Any) -> None:
        assert detail
        self.seen.append((hazard, hop))


@pytest.fixture
def hazards() -> Hazards:
    return Hazards()


@pytest.fixture
def world(staging: Staged, hazards: Hazards) -> RunContext:
    return replace(context(staging.stage), recorder=hazards)  # type: ignore[arg-type]


def fill(staging: Staged, topic: str, count: int) -> None:
    """Send the values 0 … count - 1."""
    made = Producer({"bootstrap.servers": staging.stage.bootstrap(AUDITOR), "log_level": 0})
    send(made, topic, *map(str, range(count)))


@contextmanager
def member(staging: Staged, group: str, topic: str, reset: str = "error") -> Iterator[Consumer]:
    """A consumer that resumes at the offset its group committed."""
    made = Consumer({
        "log_level": 0,
        "bootstrap.servers": staging.stage.bootstrap(AUDITOR),
        "group.id": group,
        "client.id": "a-member",
        "auto.offset.reset": reset,
        "enable.auto.commit": False,
    })  # fmt: skip
    made.subscribe([topic])
    try:
        yield made
    finally:
        made.close()


def next_value(consumer: Consumer) -> str:
    message = consumer.poll(SECONDS)
    assert message is not None, "nothing came"
    if message.error():
        raise KafkaException(message.error())
    return (message.value() or b"").decode()


@pytest.mark.parametrize(("move", "resumes_with"), [("back 3", "2"), ("forth 2", "7")])
def test_group_resumes_at_moved_offset(
    staging: Staged, topic: Callable[..., str], world: RunContext, hazards: Hazards,
    move: str, resumes_with: str,
) -> None:  # fmt: skip
    name = topic(1)
    group = f"group-of-{name}"
    fill(staging, name, 10)
    with member(staging, group, name, reset="earliest") as consumer:
        for n in range(5):
            assert next_value(consumer) == str(n)
        consumer.commit(offsets=[TopicPartition(name, 0, 5)], asynchronous=False)
        with pytest.raises(StageTrouble, match=r"is Stable with 1 members \(a-member\)"):
            asked("move-group-offsets", [group, f"{name}-0", *move.split()]).inject(world, "x")
    with active_fault(world, f"move-group-offsets {group} {name}-0 {move}") as (_, proof):
        assert f"the coordinator reports offset {resumes_with} for " in proof
        assert f", previously 5: {move.split()[1]} committed records" in proof
    with member(staging, group, name) as consumer:
        assert next_value(consumer) == resumes_with
    assert hazards.seen == [("moved-offsets", "process")]


@pytest.mark.parametrize(
    ("group", "move", "message"),
    [("one", "back 6", "from 5 to -1: the log goes from 0 to 10"),
     ("one", "forth 6", "from 5 to 11: the log"),
     ("none", "back 1", "has no committed offset to move")],
)  # fmt: skip
def test_rejects_impossible_offset_move(
    staging: Staged,
    topic: Callable[..., str],
    world: RunContext,
    group: str,
    move: str,
    message: str,
) -> None:
    name = topic(1)
    fill(staging, name, 10)
    consumer = Consumer({
        "bootstrap.servers": staging.stage.bootstrap(AUDITOR), "group.id": f"one-{name}",
        "log_level": 0,
    })  # fmt: skip
    consumer.commit(offsets=[TopicPartition(name, 0, 5)], asynchronous=False)
    with pytest.raises(StageTrouble, match=message):
        asked("move-group-offsets", [f"{group}-{name}", f"{name}-0", *move.split()]).inject(
            world, "x"
        )
    (committed,) = consumer.committed([TopicPartition(name, 0)], SECONDS)
    assert committed.offset == 5
    consumer.close()


def test_take_over_id_fences_the_owner(
    staging: Staged, topic: Callable[..., str], world: RunContext, hazards: Hazards
) -> None:
    name = topic(1)
    owner_id = f"owner-of-{name}"
    with pytest.raises(StageTrouble, match="has no owner: nothing to take over"):
        asked("take-over-id", [owner_id]).inject(world, "x")
    owner = producer(staging.stage.bootstrap("producer"), owner_id)
    owner.begin_transaction()
    send(owner, name, "of the owner")
    with active_fault(world, f"take-over-id {owner_id}") as (_, proof):
        assert ", ongoing with 1 partitions to producer " in proof
        assert "the coordinator refuses the former owner with " in proof
        with pytest.raises(KafkaException) as fenced:
            owner.commit_transaction(SECONDS)
        assert fenced.value.args[0].code() == KafkaError._FENCED
        assert fenced.value.args[0].fatal()
    successor = producer(staging.stage.bootstrap("producer"), owner_id)
    successor.begin_transaction()
    send(successor, name, "of the successor")
    successor.commit_transaction(SECONDS)
    reader = Reader(staging.stage.bootstrap(AUDITOR), name)
    reader.shows("of the successor")
    reader.close()
    assert hazards.seen == [("taken-over-id", "produce")]


def test_owner_can_reclaim_its_id(
    staging: Staged, topic: Callable[..., str], world: RunContext
) -> None:
    name = topic(1)
    producer(staging.stage.bootstrap("producer"), f"owner-of-{name}")
    with active_fault(world, f"take-over-id owner-of-{name}"):
        again = producer(staging.stage.bootstrap("producer"), f"owner-of-{name}")
        again.begin_transaction()
        send(again, name, "open while it is healed")
    again.commit_transaction(SECONDS)


@pytest.mark.parametrize(("before", "first"), [("4", "4"), ("all", None)])
def test_deleted_records_are_out_of_range(
    staging: Staged, topic: Callable[..., str], world: RunContext, hazards: Hazards,
    before: str, first: str | None,
) -> None:  # fmt: skip
    name = topic(1)
    fill(staging, name, 10)
    group = f"group-of-{name}"
    with active_fault(world, f"delete-records {name}-0 {before}") as (_, proof):
        offset = first or 10
        assert f"starts at offset {offset} instead of 0: {offset} records were deleted" in proof
        late = Consumer({
            "log_level": 0, "bootstrap.servers": staging.stage.bootstrap(AUDITOR),
            "group.id": group, "auto.offset.reset": "error",
        })  # fmt: skip
        assert late.get_watermark_offsets(TopicPartition(name, 0), SECONDS)[0] == int(first or 10)
        late.assign([TopicPartition(name, 0, 1)])
        with pytest.raises(KafkaException, match="AUTO_OFFSET_RESET"):
            next_value(late)
        late.close()
    fill(staging, name, 1)
    reader = Reader(staging.stage.bootstrap(AUDITOR), name)
    assert reader.all() == [*map(str, range(int(first or 10), 10)), "0"]
    reader.close()
    assert hazards.seen == [("deleted-records", "process")]
    with world.reader() as auditor:
        log = auditor.read(name, 0)
        assert (log.log_start, log.entries[0].offset) == (int(first or 10), int(first or 10))
        assert auditor.ends(name) == {0: (11, 11)}
    with pytest.raises(StageTrouble, match=r"cannot delete the records of .* its log starts at"):
        asked("delete-records", [f"{name}-0", "1"]).inject(world, "x")


def test_timed_out_transaction_fences_its_commit(
    staging: Staged, topic: Callable[..., str], world: RunContext, hazards: Hazards
) -> None:
    name = topic(1)
    owner_id = f"late-{name}"
    owner = Producer({
        **SETTINGS,
        "bootstrap.servers": staging.stage.bootstrap("producer"),
        "transactional.id": owner_id,
        "transaction.timeout.ms": 5000,
        "message.timeout.ms": 5000,
    })  # fmt: skip
    owner.init_transactions(SECONDS)
    reader = Reader(staging.stage.bootstrap(AUDITOR), name)
    fault = asked("time-out-transaction", [owner_id]).inject(world, "late")
    try:
        assert fault.evidence() is None
        assert fault.at is None
        owner.begin_transaction()
        send(owner, name, "too late")
        commit = Background(lambda: owner.commit_transaction(SECONDS))
        proof = eventually(fault.evidence, "the coordinator to give it up")
        assert "with a timeout of 5 s was ongoing; after " in proof
        assert "an abort marker in each of its 1 partitions" in proof
        assert not commit.over
        assert reader.all() == []
    finally:
        fault.heal()
        fault.heal()
    error = commit.wait()
    assert isinstance(error, KafkaException)
    assert error.args[0].fatal()
    assert error.args[0].code() == KafkaError._FENCED
    assert reader.all() == [], "the commit came too late to count"
    successor = producer(staging.stage.bootstrap("producer"), owner_id)
    successor.begin_transaction()
    send(successor, name, "of the successor")
    successor.commit_transaction(SECONDS)
    reader.shows("of the successor")
    reader.close()
    assert hazards.seen == [("timed-out-transaction", "produce")]

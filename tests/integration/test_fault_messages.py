"""Single messages hit, and faults that act while one is on its way, as client and log tell it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)

from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.by_hand import asked
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.messages.hit_message import HitMessage
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.targets.brokers import LeaderOf
from onceproof.harness.links.gate.rules import Direction
from onceproof.harness.links.topology import AUDITOR, Link
from onceproof.harness.schedule.fault_execution import FaultExecution
from onceproof.harness.schedule.scenario import ScheduledFault
from tests.integration.faults import context
from tests.integration.staging import Staged, eventually
from tests.integration.transactions import producer as transactor
from tests.integration.transactions import send

pytestmark = pytest.mark.integration


class Client:
    """An idempotent producer that sends one record and tells what came of it."""

    def __init__(self, staging: Staged, topic: str, seconds: float = 1.5) -> None:
        """`seconds`: after that long without an answer it sends again."""
        self.topic = topic
        self.outcomes: list[object] = []
        self._producer = Producer(
            {
                "bootstrap.servers": staging.stage.bootstrap("producer"),
                "client.id": "client-of-test",
                "enable.idempotence": True,
                "socket.timeout.ms": int(seconds * 1000),
                "request.timeout.ms": 1000,
                "retry.backoff.ms": 50,
                "reconnect.backoff.max.ms": 500,
                "log_level": 0,
            }
        )

    def send(self, value: bytes) -> None:
        self._producer.produce(
            self.topic, value, partition=0, on_delivery=lambda error, _: self.outcomes.append(error)
        )
        self._producer.poll(0)

    def close(self) -> None:
        """End it and its connections, also if a test that failed still holds this."""
        self._producer.flush(30)
        del self._producer

    def told(self, count: int) -> None:
        """Wait until so many records have their outcome."""
        eventually(
            lambda: self._producer.poll(0.05) is not None and len(self.outcomes) >= count,
            f"{count} outcomes",
            lambda: self.outcomes,
        )


@pytest.fixture
def client(
    staging: Staged, topic: Callable[..., str], request: pytest.FixtureRequest
) -> Iterator[Client]:
    made = Client(staging, topic(1), *getattr(request, "param", ()))
    made.send(b"first")
    made.told(1)
    yield made
    made.close()


def in_log(staging: Staged, topic: str) -> list[bytes]:
    """Values of a partition, as a consumer of the auditor's reads them to the end."""
    consumer = Consumer(
        {
            "bootstrap.servers": staging.stage.bootstrap(AUDITOR),
            "group.id": "test",
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    values: list[bytes] = []
    try:
        while True:
            message = consumer.poll(30)
            assert message is not None, "the end of the log was not reached"
            if message.error() and message.error().code() == KafkaError._PARTITION_EOF:
                return values
            assert not message.error(), message.error()
            values.append(message.value())
    finally:
        consumer.close()


def injected(staging: Staged, words: str) -> Injection:
    name, *more = words.split()
    return asked(name, more).inject(context(staging.stage), name)


def hit(injection: Injection) -> str:
    return eventually(injection.evidence, "the message to come")


@pytest.mark.parametrize(
    "words",
    [
        "request Produce drop",
        "response Produce drop",
        "request Produce close-before",
        "response Produce close-before",
        "response Produce error:NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    ],
)
def test_the_client_sends_again_and_the_log_has_it_once(
    staging: Staged, client: Client, words: str
) -> None:
    injection = injected(staging, f"message producer {words}")
    try:
        assert injection.at is None
        client.send(b"second")
        evidence = hit(injection)
        assert "of client-of-test on producer→broker-" in evidence
        assert injection.at is not None
        client.told(2)
    finally:
        injection.heal()
    assert client.outcomes == [None, None]
    assert in_log(staging, client.topic) == [b"first", b"second"]
    assert staging.stage.disturbed() == {}


@pytest.mark.parametrize("client", [(60,)], indirect=True, ids=["patient"])
def test_what_is_held_is_under_way_until_it_is_healed(staging: Staged, client: Client) -> None:
    injection = injected(staging, "message producer request Produce hold")
    try:
        client.send(b"second")
        hit(injection)
        assert in_log(staging, client.topic) == [b"first"]
        assert any("held 1" in how for how in staging.stage.disturbed().values())
    finally:
        injection.heal()
    client.told(2)
    assert in_log(staging, client.topic) == [b"first", b"second"]
    assert staging.stage.disturbed() == {}


def lying_in_wait(
    staging: Staged, at: ScheduledFault, topic: str, *, rules: int
) -> tuple[FaultExecution, list[tuple[str, str]], threading.Thread]:
    """A line once it has its rules on every link: whoever leads, the message passes one of them."""
    told: list[tuple[str, str]] = []
    recorder: Any = SimpleNamespace(
        fault=lambda row, state, detail: told.append((state, detail)),
        history=SimpleNamespace(write=lambda *_, **__: None),
    )
    line = FaultExecution(at, replace(context(staging.stage, topic), recorder=recorder))
    thread = threading.Thread(target=line.run, args=(lambda: None,))
    thread.start()
    gates = [staging.stage.gate(Link("producer", node)) for node in staging.stage.brokers]
    eventually(
        lambda: all(len(gate.state()["rules"]) == rules for gate in gates),
        "the rules to lie in wait", lambda: (line.state, told),
    )  # fmt: skip
    return line, told, thread


@pytest.mark.parametrize(
    ("api", "error"),
    [("TxnOffsetCommit", "UNKNOWN_MEMBER_ID"), ("EndTxn", "INVALID_TXN_STATE")],
)
def test_only_what_is_behind_another_message_in_its_transaction(
    api: str, error: str, staging: Staged, topic: Callable[..., str]
) -> None:
    name = topic(1)
    made = transactor(staging.stage.bootstrap("producer"), f"behind-{api}")
    group = Consumer({"bootstrap.servers": staging.stage.bootstrap("producer"), "group.id": name})

    def transaction(*values: str) -> None:
        made.begin_transaction()
        send(made, name, *values)
        ends = [TopicPartition(name, 0, 1)]
        made.send_offsets_to_transaction(ends, group.consumer_group_metadata())
        made.commit_transaction()

    def message(direction: Direction, api: str, **more: bool) -> Message:
        return Message(source="producer", direction=direction, api=api, client_id="rdkafka", **more)

    refused = ScheduledFault(
        name="refused",
        during=message("request", api),
        behind=message("response", "Produce", refused=False),
        do=HitMessage(message=message("response", api), action="error", error=error),
        seconds=60,
    )
    line, told, thread = lying_in_wait(staging, refused, name, rules=3)
    transaction()  # nothing was written
    if api == "TxnOffsetCommit":
        made.begin_transaction()
        send(made, name, "first")
        made.abort_transaction()
        transaction()  # what was written was in an earlier one
    with pytest.raises(KafkaException) as refusal:
        transaction("second")
    assert refusal.value.args[0].name() == error
    thread.join(120)
    assert line.state == "healed", told
    group.close()


@pytest.mark.parametrize("lost", [False, True])
def test_a_leader_is_killed_while_a_message_is_on_its_way(
    lost: bool, staging: Staged, client: Client
) -> None:
    killed = ScheduledFault(
        name="killed",
        do=Kill(LeaderOf(partition=0)),
        during=Message(source="producer", direction="request", api="Produce"),
        lost=lost,
        seconds=60,
    )
    line, told, thread = lying_in_wait(staging, killed, client.topic, rules=1)
    client.send(b"second")
    thread.join(120)
    assert line.state == "healed", told
    states = [state for state, _ in told]
    assert states == ["due", "due", "injected", "took effect", "healed"]
    assert told[1][1].startswith(f"{'lost' if lost else 'held'}: Produce request ")
    client.told(2)
    assert client.outcomes == [None, None]
    assert in_log(staging, client.topic) == [b"first", b"second"]
    assert staging.stage.disturbed() == {}

"""Faults that hit single messages or act during one, observed by client and log."""

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
from tests.end_to_end.catalogue import LATER
from tests.integration.faults import context
from tests.integration.staging import Staged, eventually
from tests.integration.transactions import producer as transactional_producer
from tests.integration.transactions import send

pytestmark = pytest.mark.integration


class Client:
    """An idempotent producer that collects the outcome of each record."""

    def __init__(self, staging: Staged, topic: str, seconds: float = 1.5) -> None:
        """Retry a request after `seconds` without a response."""
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
        """Close the connections, even if the frames of a failed test still refer to this client."""
        self._producer.flush(30)
        del self._producer

    def wait_for_outcomes(self, count: int) -> None:
        """Wait until `count` records have an outcome."""
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
    made.wait_for_outcomes(1)
    yield made
    made.close()


def values_in_log(staging: Staged, topic: str) -> list[bytes]:
    """The values of partition 0, read by a consumer that bypasses the proxies."""
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


def inject(staging: Staged, command: str) -> Injection:
    name, *arguments = command.split()
    return asked(name, arguments).inject(context(staging.stage), name)


def wait_for_evidence(injection: Injection) -> str:
    return eventually(injection.evidence, "the message to come")


@pytest.mark.parametrize(
    "command",
    [
        "request Produce drop",
        "response Produce drop",
        "request Produce close-before",
        "response Produce close-before",
        "response Produce error:NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    ],
)
def test_idempotent_retry_is_logged_once(staging: Staged, client: Client, command: str) -> None:
    injection = inject(staging, f"message producer {command}")
    try:
        assert injection.at is None
        client.send(b"second")
        evidence = wait_for_evidence(injection)
        assert "of client-of-test on producer→broker-" in evidence
        assert injection.at is not None
        client.wait_for_outcomes(2)
    finally:
        injection.heal()
    assert client.outcomes == [None, None]
    assert values_in_log(staging, client.topic) == [b"first", b"second"]
    assert staging.stage.disturbed() == {}


@pytest.mark.parametrize("client", [(60,)], indirect=True, ids=["patient"])
def test_held_request_is_delivered_after_heal(staging: Staged, client: Client) -> None:
    injection = inject(staging, "message producer request Produce hold")
    try:
        client.send(b"second")
        wait_for_evidence(injection)
        assert values_in_log(staging, client.topic) == [b"first"]
        assert any("held 1" in how for how in staging.stage.disturbed().values())
    finally:
        injection.heal()
    client.wait_for_outcomes(2)
    assert values_in_log(staging, client.topic) == [b"first", b"second"]
    assert staging.stage.disturbed() == {}


def start_armed(
    staging: Staged, fault: ScheduledFault, topic: str, *, rules: int
) -> tuple[FaultExecution, list[tuple[str, str]], threading.Thread]:
    """Start a fault and wait until its rules are on every link, whichever broker leads."""
    states: list[tuple[str, str]] = []
    recorder: Any = SimpleNamespace(
        fault=lambda row, state, detail: states.append((state, detail)),
        history=SimpleNamespace(write=lambda *_, **__: None),
    )
    execution = FaultExecution(fault, replace(context(staging.stage, topic), recorder=recorder))
    thread = threading.Thread(target=execution.run, args=(lambda: None,))
    thread.start()
    gates = [staging.stage.gate(Link("producer", node)) for node in staging.stage.brokers]
    eventually(
        lambda: all(len(gate.state()["rules"]) == rules for gate in gates),
        "the rules to lie in wait", lambda: (execution.state, states),
    )  # fmt: skip
    return execution, states, thread


@pytest.mark.parametrize(
    ("api", "error"),
    [("TxnOffsetCommit", "UNKNOWN_MEMBER_ID"), ("EndTxn", "INVALID_TXN_STATE")],
)
def test_behind_matches_only_within_the_same_transaction(
    api: str, error: str, staging: Staged, topic: Callable[..., str]
) -> None:
    name = topic(1)
    made = transactional_producer(staging.stage.bootstrap("producer"), f"behind-{api}")
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
    execution, states, thread = start_armed(staging, refused, name, rules=3)
    transaction()  # without a write
    if api == "TxnOffsetCommit":
        made.begin_transaction()
        send(made, name, "first")
        made.abort_transaction()
        transaction()  # the write was in an earlier transaction
    with pytest.raises(KafkaException) as refusal:
        transaction("second")
    assert refusal.value.args[0].name() == error
    thread.join(120)
    assert execution.state == "healed", states
    group.close()


@pytest.mark.parametrize("lost", [False, pytest.param(True, marks=LATER)])
def test_leader_killed_during_produce_logs_record_once(
    lost: bool, staging: Staged, client: Client
) -> None:
    killed = ScheduledFault(
        name="killed",
        do=Kill(LeaderOf(partition=0)),
        during=Message(source="producer", direction="request", api="Produce"),
        lost=lost,
        seconds=60,
    )
    execution, transitions, thread = start_armed(staging, killed, client.topic, rules=1)
    client.send(b"second")
    thread.join(120)
    assert execution.state == "healed", transitions
    states = [state for state, _ in transitions]
    assert states == ["due", "due", "injected", "took effect", "healed"]
    assert transitions[1][1].startswith(f"{'lost' if lost else 'held'}: Produce request ")
    client.wait_for_outcomes(2)
    assert client.outcomes == [None, None]
    assert values_in_log(staging, client.topic) == [b"first", b"second"]
    assert staging.stage.disturbed() == {}

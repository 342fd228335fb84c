"""Gate rules on single requests and responses of real brokers, observed by a separate reader."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer

from onceproof.harness.links.gate.client import Placed
from onceproof.harness.links.gate.rules import MessageMatch
from onceproof.harness.links.topology import AUDITOR, POSTGRES, Link
from onceproof.harness.processes.trouble import StageTrouble
from tests.end_to_end.catalogue import LATER
from tests.integration.staging import (
    Staged,
    Talk,
    eventually,
    marked_processes,
    none_fired_twice,
    serves,
)
from tests.integration.transactions import SECONDS, Background, Reader, producer, send

pytestmark = pytest.mark.integration

_ids = itertools.count(1)


class RulesOnAllLinks:
    """Rules on all links of the producers, so that one matches whichever broker is in charge."""

    def __init__(self, staging: Staged) -> None:
        self.stage = staging.stage
        self.links = [Link("producer", node) for node in self.stage.brokers]
        self._placed: list[Placed] = []
        for link in self.links:
            self.stage.gate(link)

    def put(
        self, direction: str, api: str, action: str, *, times: int | None = 1,
        error: str | None = None, **more: Any,
    ) -> list[Placed]:  # fmt: skip
        match = MessageMatch(direction=direction, api=api, **more)  # type: ignore[arg-type]
        rule = match.rule(action, times=times, error=error)  # type: ignore[arg-type]
        placed = [self.stage.gate(link).put(rule) for link in self.links]
        self._placed += placed
        return placed

    def clear(self) -> None:
        for placed in self._placed:
            placed.remove()
        self._placed.clear()


def fired(rules: list[Placed]) -> list[Any]:
    return [event for rule in rules for event in rule.fired]


def wait_until_fired(rules: list[Placed]) -> Placed:
    """Wait until a rule fired and return it."""
    eventually(lambda: fired(rules), "a rule to act", rules[0].gate.state)
    return next(rule for rule in rules if rule.fired)


@pytest.fixture
def gates(staging: Staged) -> Iterator[RulesOnAllLinks]:
    rules = RulesOnAllLinks(staging)
    yield rules
    rules.clear()
    for link in rules.links:
        staging.stage.ungate(link)


@pytest.fixture
def transactor(
    staging: Staged, topic: Callable[..., str], request: pytest.FixtureRequest
) -> Iterator[Transactor]:
    made = Transactor(staging, topic(), **getattr(request, "param", {}))
    yield made
    made.close()


class Transactor:
    """A transactional producer and a reader of its topic."""

    def __init__(self, staging: Staged, topic: str, **settings: int) -> None:
        self.stage = staging.stage
        self.topic = topic
        self.id = f"txn-{next(_ids)}"
        self.reader = Reader(self.stage.bootstrap(AUDITOR), topic)
        self.producer: Producer = producer(self.stage.bootstrap("producer"), self.id, **settings)

    def begin(self, *values: str) -> None:
        self.producer.begin_transaction()
        send(self.producer, self.topic, *values)

    def commit(self) -> Background:
        return Background(lambda: self.producer.commit_transaction(SECONDS))

    def close(self) -> None:
        """Abort an open transaction by initializing another producer with the same id."""
        with contextlib.suppress(KafkaException):
            producer(self.stage.bootstrap(AUDITOR), self.id)
        self.reader.close()


def test_gate_without_rules_disturbs_nothing(staging: Staged, transactor: Transactor) -> None:
    stage = staging.stage
    link = Link("producer", "broker-1")
    with Talk(stage.bootstrap("producer", "broker-1")) as before:
        before.ask()
        assert before.answered()
        gate = stage.gate(link)
        assert before.closed()
    assert stage.gate(link) is gate
    assert stage.disturbed() == {}
    with Talk(stage.bootstrap("producer", "broker-1")) as talk:
        talk.ask()
        assert talk.answered()
        assert gate.state()["connections"] >= 1
        assert gate.state()["request"]["ApiVersions"]["frames"] >= 1
        rule = gate.put(MessageMatch(direction="request", api="EndTxn").rule("drop"))
        assert stage.disturbed() == {str(link): "gate: rules 1, held 0"}
        rule.remove()
        assert stage.disturbed() == {}
        stage.ungate(link)
        assert talk.closed()
    assert serves(stage.bootstrap("producer", "broker-1"))
    assert stage.disturbed() == {}
    stage.ungate(link)  # already removed
    gate_sessions = {process.session for process in staging.processes.all if process.name == "gate"}
    assert gate_sessions & marked_processes(staging.processes.marker).keys()


def test_gate_rejects_unsupported_links(staging: Staged) -> None:
    with pytest.raises(StageTrouble, match="pipeline→postgres cannot have a gate"):
        staging.stage.gate(Link("pipeline", POSTGRES))
    with pytest.raises(StageTrouble, match="unknown link nobody→broker-1"):
        staging.stage.gate(Link("nobody", "broker-1"))


def test_ungate_repairs_link_of_dead_gate(staging: Staged) -> None:
    stage = staging.stage
    link = Link("producer", "broker-1")
    gate = stage.gate(link)
    try:
        next(p for p in staging.living if p.name == "gate").kill("a test")
        with pytest.raises(StageTrouble, match="the gate cannot put: it exited with -9"):
            gate.put(MessageMatch(direction="request", api="EndTxn").rule("drop"))
        assert "it exited with -9" in stage.disturbed()[str(link)]
        assert not serves(stage.bootstrap("producer", "broker-1"))
    finally:
        stage.ungate(link)
    assert stage.disturbed() == {}
    assert serves(stage.bootstrap("producer", "broker-1"))
    again = stage.gate(link)
    assert serves(stage.bootstrap("producer", "broker-1"))
    assert again.state()["opened"] == 1
    stage.ungate(link)


def test_brokers_replicate_through_a_gate(staging: Staged, topic: Callable[..., str]) -> None:
    stage = staging.stage
    topic(partitions=len(stage.brokers))  # broker-2 leads one and broker-1 follows
    link = Link("broker-1", "broker-2")
    gate = stage.gate(link)
    try:
        eventually(lambda: {"Fetch"} <= gate.state()["request"].keys(), "a fetch", gate.state)
        eventually(lambda: gate.state()["connections"] > 0, "a connection", gate.state)
    finally:
        stage.ungate(link)


PATIENT = {"socket_timeout_ms": 12_000, "transaction_timeout_ms": 60_000}
"""Retry timeouts above three seconds, so that a busy machine can observe the fault first."""


@pytest.mark.parametrize("transactor", [PATIENT], indirect=True, ids=["patient"])
def test_held_end_txn_commits_after_release(gates: RulesOnAllLinks, transactor: Transactor) -> None:
    rules = gates.put("request", "EndTxn", "hold", transactional_id=transactor.id)
    transactor.begin("a", "b")
    committing = transactor.commit()
    rule = wait_until_fired(rules)
    assert gates.stage.disturbed()[rule.where] == "gate: rules 0, held 1"
    assert transactor.reader.all() == []
    assert not committing.over
    rule.release()
    assert committing.wait() is None
    transactor.reader.shows("a", "b")


@pytest.mark.parametrize(
    ("direction", "action", "transactor"),
    [
        ("request", "drop", {}),
        ("request", "close-before", {}),
        ("request", "close-after", {}),
        ("response", "drop", PATIENT),
        ("response", "close-before", {}),
        ("response", "close-after", {}),
        ("request", "duplicate", {}),
        ("request", "report", {}),
    ],
    indirect=["transactor"],
)
def test_disturbed_end_txn_commits_once(
    gates: RulesOnAllLinks, transactor: Transactor, direction: str, action: str
) -> None:
    rules = gates.put(direction, "EndTxn", action, transactional_id=transactor.id)
    everything = gates.put(
        "request", "EndTxn", "report", times=None, transactional_id=transactor.id
    )
    transactor.begin("a", "b")
    committing = transactor.commit()
    event = wait_until_fired(rules).fired[0]
    assert (event["api"], event["transactional_ids"]) == ("EndTxn", [transactor.id])
    if (direction, action) == ("response", "drop"):
        # Committed, but the client does not know.
        transactor.reader.shows("a", "b")
        assert not committing.over
    assert committing.wait() is None
    transactor.reader.shows("a", "b")
    none_fired_twice(rules)
    # `report` counts only retries: it does not see what the earlier rule consumed.
    again = {("request", "duplicate"): 0, ("response", "drop"): 2, ("response", "close-before"): 2}
    assert len(fired(everything)) >= again.get((direction, action), 1)


@pytest.mark.parametrize(("direction", "visible"), [("request", []), ("response", ["a", "b"])])
def test_end_txn_error_commits_only_if_the_request_arrived(
    gates: RulesOnAllLinks, transactor: Transactor, direction: str, visible: list[str]
) -> None:
    rules = gates.put(
        direction, "EndTxn", "error", error="INVALID_TXN_STATE", transactional_id=transactor.id
    )
    transactor.begin("a", "b")
    error = transactor.commit().wait()
    assert isinstance(error, KafkaException)
    assert error.args[0].name() == "INVALID_TXN_STATE"
    none_fired_twice(rules)
    transactor.reader.shows(*visible)


@pytest.mark.parametrize(
    ("direction", "action"),
    [
        ("request", "drop"),
        ("response", "drop"),
        ("request", "close-after"),
        ("request", "duplicate"),
        ("response", "error"),
    ],
)
def test_disturbed_batch_is_logged_once(
    gates: RulesOnAllLinks, transactor: Transactor, direction: str, action: str
) -> None:
    error = {"error": "NOT_LEADER_FOR_PARTITION"} if action == "error" else {}
    rules = gates.put(direction, "Produce", action, topic=transactor.topic, **error)
    transactor.begin("a", "b")
    assert transactor.commit().wait() is None
    none_fired_twice(rules)
    assert fired(rules)[0]["topics"] == [transactor.topic]
    transactor.reader.shows("a", "b")


@LATER
@pytest.mark.parametrize("transactor", [PATIENT], indirect=True, ids=["patient"])
def test_broker_killed_at_held_end_txn_commits_once(
    gates: RulesOnAllLinks, transactor: Transactor
) -> None:
    rules = gates.put("request", "EndTxn", "hold", transactional_id=transactor.id)
    transactor.begin("a", "b")
    committing = transactor.commit()
    rule = wait_until_fired(rules)
    node = rule.where.partition("→")[2]
    gates.stage.kill(node, "a test")
    try:
        assert gates.stage.gate(Link("producer", node)).state()["connections"] == 0
        assert [e["rule"] for e in rule.gate.events() if e["event"] == "lost"][-1] == rule.id
        assert committing.wait() is None
        transactor.reader.shows("a", "b")
    finally:
        gates.stage.restart(node)
    gates.clear()
    eventually(lambda: gates.stage.disturbed() == {}, "the stage to be whole")


def test_late_commit_ends_the_next_transaction(
    gates: RulesOnAllLinks, transactor: Transactor
) -> None:
    """KAFKA-17754: librdkafka uses EndTxn version 1, which does not bump the epoch, so that a late
    one ends the transaction that is open when it arrives.
    """
    rules = gates.put("request", "EndTxn", "hold", transactional_id=transactor.id)
    transactor.begin("first")
    assert transactor.commit().wait() is None  # retried after a timeout, over another connection
    rule = wait_until_fired(rules)
    assert rule.fired[0]["version"] < 5
    transactor.reader.shows("first")
    transactor.begin("second")
    assert transactor.reader.all() == ["first"]
    assert rule.release() == 1
    transactor.reader.shows("first", "second")  # including the record of the open transaction
    with pytest.raises(KafkaException):
        transactor.producer.abort_transaction(SECONDS)
    assert transactor.reader.all() == ["first", "second"]

"""Single requests and responses acted on, on real brokers, as an independent reader sees it."""

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
from tests.integration.staging import Staged, Talk, eventually, marked, once_each, serves
from tests.integration.transactions import SECONDS, Background, Reader, producer, send

pytestmark = pytest.mark.integration

_ids = itertools.count(1)


class Everywhere:
    """Rules on all links of the producers: whoever leads or coordinates, one of them is met."""

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
        sought = MessageMatch(direction=direction, api=api, **more)  # type: ignore[arg-type]
        rule = sought.rule(action, times=times, error=error)  # type: ignore[arg-type]
        placed = [self.stage.gate(link).put(rule) for link in self.links]
        self._placed += placed
        return placed

    def clear(self) -> None:
        for placed in self._placed:
            placed.remove()
        self._placed.clear()


def fired(rules: list[Placed]) -> list[Any]:
    return [event for rule in rules for event in rule.fired]


def wait_fired(rules: list[Placed]) -> Placed:
    """The one that acted."""
    eventually(lambda: fired(rules), "a rule to act", rules[0].gate.state)
    return next(rule for rule in rules if rule.fired)


@pytest.fixture
def gated(staging: Staged) -> Iterator[Everywhere]:
    everywhere = Everywhere(staging)
    yield everywhere
    everywhere.clear()
    for link in everywhere.links:
        staging.stage.ungate(link)


@pytest.fixture
def one(
    staging: Staged, topic: Callable[..., str], request: pytest.FixtureRequest
) -> Iterator[One]:
    made = One(staging, topic(), **getattr(request, "param", {}))
    yield made
    made.close()


class One:
    """One transactional producer on a topic of its own, one transaction at a time, and a reader."""

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
        """Whatever is open ends with a successor of the same id."""
        with contextlib.suppress(KafkaException):
            producer(self.stage.bootstrap(AUDITOR), self.id)
        self.reader.close()


def test_a_gate_alone_disturbs_nothing(staging: Staged, one: One) -> None:
    stage = staging.stage
    link = Link("producer", "broker-1")
    with Talk(stage.bootstrap("producer", "broker-1")) as before:
        before.ask()
        assert before.answered()
        on = stage.gate(link)
        assert before.closed()
    assert stage.gate(link) is on
    assert stage.disturbed() == {}
    with Talk(stage.bootstrap("producer", "broker-1")) as talk:
        talk.ask()
        assert talk.answered()
        assert on.state()["connections"] >= 1
        assert on.state()["request"]["ApiVersions"]["frames"] >= 1
        rule = on.put(MessageMatch(direction="request", api="EndTxn").rule("drop"))
        assert stage.disturbed() == {str(link): "gate: rules 1, held 0"}
        rule.remove()
        assert stage.disturbed() == {}
        stage.ungate(link)
        assert talk.closed()
    assert serves(stage.bootstrap("producer", "broker-1"))
    assert stage.disturbed() == {}
    stage.ungate(link)  # gone already
    gates = {process.session for process in staging.processes.all if process.name == "gate"}
    assert gates & marked(staging.processes.marker).keys()


def test_links_that_can_have_none(staging: Staged) -> None:
    with pytest.raises(StageTrouble, match="pipeline→postgres cannot have a gate"):
        staging.stage.gate(Link("pipeline", POSTGRES))
    with pytest.raises(StageTrouble, match="unknown link nobody→broker-1"):
        staging.stage.gate(Link("nobody", "broker-1"))


def test_a_gate_that_died(staging: Staged) -> None:
    """Its links are dead and said to be; taking it off makes them whole."""
    stage = staging.stage
    link = Link("producer", "broker-1")
    on = stage.gate(link)
    try:
        next(p for p in staging.living if p.name == "gate").kill("a test")
        with pytest.raises(StageTrouble, match="the gate cannot put: it exited with -9"):
            on.put(MessageMatch(direction="request", api="EndTxn").rule("drop"))
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


def test_brokers_talk_to_each_other_through_a_gate(
    staging: Staged, topic: Callable[..., str]
) -> None:
    """Both ways of such a link: replication and Raft."""
    stage = staging.stage
    topic(partitions=len(stage.brokers))  # one of them the second leads, and the first follows it
    link = Link("broker-1", "broker-2")
    on = stage.gate(link)
    try:
        eventually(lambda: {"Fetch"} <= on.state()["request"].keys(), "a fetch", on.state)
        eventually(lambda: on.state()["connections"] > 0, "a connection", on.state)
    finally:
        stage.ungate(link)


PATIENT = {"socket_timeout_ms": 12_000, "transaction_timeout_ms": 60_000}
"""It asks again later than in three seconds, in which a busy machine may see too little."""


@pytest.mark.parametrize("one", [PATIENT], indirect=True, ids=["patient"])
def test_the_end_of_a_transaction_held(gated: Everywhere, one: One) -> None:
    rules = gated.put("request", "EndTxn", "hold", transactional_id=one.id)
    one.begin("a", "b")
    committing = one.commit()
    rule = wait_fired(rules)
    assert gated.stage.disturbed()[rule.link] == "gate: rules 0, held 1"
    assert one.reader.all() == []
    assert not committing.over
    rule.release()
    assert committing.wait() is None
    one.reader.shows("a", "b")


@pytest.mark.parametrize(
    ("direction", "action", "one"),
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
    indirect=["one"],
)
def test_the_end_of_a_transaction_disturbed(
    gated: Everywhere, one: One, direction: str, action: str
) -> None:
    """However it goes wrong on the way, the client gets it done, once."""
    rules = gated.put(direction, "EndTxn", action, transactional_id=one.id)
    everything = gated.put("request", "EndTxn", "report", times=None, transactional_id=one.id)
    one.begin("a", "b")
    committing = one.commit()
    event = wait_fired(rules).fired[0]
    assert (event["api"], event["transactional_ids"]) == ("EndTxn", [one.id])
    if (direction, action) == ("response", "drop"):
        # It is committed, and only the client does not know.
        one.reader.shows("a", "b")
        assert not committing.over
    assert committing.wait() is None
    one.reader.shows("a", "b")
    once_each(rules)
    # The report does not count what the rule before it took: it counts what came again.
    again = {("request", "duplicate"): 0, ("response", "drop"): 2, ("response", "close-before"): 2}
    assert len(fired(everything)) >= again.get((direction, action), 1)


@pytest.mark.parametrize(("direction", "visible"), [("request", []), ("response", ["a", "b"])])
def test_the_end_of_a_transaction_answered_with_an_error(
    gated: Everywhere, one: One, direction: str, visible: list[str]
) -> None:
    """A client that is told the same, of a transaction that ended and of one that did not."""
    rules = gated.put(
        direction, "EndTxn", "error", error="INVALID_TXN_STATE", transactional_id=one.id
    )
    one.begin("a", "b")
    error = one.commit().wait()
    assert isinstance(error, KafkaException)
    assert error.args[0].name() == "INVALID_TXN_STATE"
    once_each(rules)
    one.reader.shows(*visible)


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
def test_a_batch_disturbed(gated: Everywhere, one: One, direction: str, action: str) -> None:
    """Lost, answered in vain, or sent twice: an idempotent producer's batch is in the log once."""
    error = {"error": "NOT_LEADER_FOR_PARTITION"} if action == "error" else {}
    rules = gated.put(direction, "Produce", action, topic=one.topic, **error)
    one.begin("a", "b")
    assert one.commit().wait() is None
    once_each(rules)
    assert fired(rules)[0]["topics"] == [one.topic]
    one.reader.shows("a", "b")


@pytest.mark.parametrize("one", [PATIENT], indirect=True, ids=["patient"])
def test_a_trigger(gated: Everywhere, one: One) -> None:
    """The broker that is about to get EndTxn dies at that very moment."""
    rules = gated.put("request", "EndTxn", "hold", transactional_id=one.id)
    one.begin("a", "b")
    committing = one.commit()
    rule = wait_fired(rules)
    node = rule.link.partition("→")[2]
    gated.stage.kill(node, "a test")
    try:
        assert gated.stage.gate(Link("producer", node)).state()["connections"] == 0
        assert [e["rule"] for e in rule.gate.events() if e["event"] == "lost"][-1] == rule.id
        assert committing.wait() is None
        one.reader.shows("a", "b")
    finally:
        gated.stage.restart(node)
    gated.clear()
    eventually(lambda: gated.stage.disturbed() == {}, "the stage to be whole")


def test_a_late_commit_ends_the_next_transaction(gated: Everywhere, one: One) -> None:
    """KAFKA-17754: librdkafka ends transactions by EndTxn version 1, which does not bump the epoch,
    so that one which comes late ends the transaction that is open then, on any cluster.
    """
    rules = gated.put("request", "EndTxn", "hold", transactional_id=one.id)
    one.begin("first")
    assert one.commit().wait() is None  # after a time-out, over another connection
    rule = wait_fired(rules)
    assert rule.fired[0]["version"] < 5
    one.reader.shows("first")
    one.begin("second")
    assert one.reader.all() == ["first"]
    assert rule.release() == 1
    one.reader.shows("first", "second")  # with a record of the open transaction
    with pytest.raises(KafkaException):
        one.producer.abort_transaction(SECONDS)
    assert one.reader.all() == ["first", "second"]

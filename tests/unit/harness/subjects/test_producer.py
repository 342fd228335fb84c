"""Subjects that only send: client settings, observers and scenarios."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from onceproof.checkers.claims import atomic_append
from onceproof.harness.context.pipeline import NoPipeline
from onceproof.harness.schedule.scenario import BadScenario, Scenario
from onceproof.harness.subjects.observed import Observed, Observer, ObserverTrouble
from onceproof.harness.subjects.producer import ProducerSubject
from onceproof.harness.workload.payments import Payments
from onceproof.harness.workload.senders.aiokafka import AIOKAFKA
from onceproof.harness.workload.senders.java import JAVA
from onceproof.harness.workload.senders.kafka_python import KAFKA_PYTHON
from onceproof.harness.workload.senders.librdkafka import LIBRDKAFKA, Librdkafka
from onceproof.scenarios import all_scenarios, idempotent_producers, transactional_producers
from tests.unit.fakes.pipelines import parts_in
from tests.unit.fakes.process import FakeProcess

SENDERS = (LIBRDKAFKA, KAFKA_PYTHON, AIOKAFKA, JAVA)
TWO_TOPICS = Payments(transaction=5, other_topic="refunds", aborts=10)


def test_claims_may_name_either_topic_of_the_workload() -> None:
    made = Scenario(
        name="story",
        title="A story",
        subject=ProducerSubject(name="senders", says="They send."),
        workload=TWO_TOPICS,
        schedule=(),
        claims=(atomic_append("refunds"),),
    )
    assert [topic.name for topic in made.all_topics] == ["payments", "refunds"]
    with pytest.raises(BadScenario, match="the workload writes to payments and refunds"):
        Scenario(
            name="story",
            title="A story",
            subject=made.subject,
            workload=TWO_TOPICS,
            schedule=(),
            claims=(atomic_append("others"),),
        )


def test_without_observers_there_is_no_pipeline() -> None:
    subject = ProducerSubject(name="senders", says="They send.")
    assert isinstance(subject.pipeline(parts_in(Path())), NoPipeline)
    assert subject.sends
    assert subject.configuration() == {}


def test_configuration_lists_observers() -> None:
    subject = ProducerSubject(
        name="senders",
        says="They send.",
        observers=(Observer(isolation="read_committed"), Observer(isolation="read_uncommitted")),
    )
    configuration = subject.configuration()
    assert {name: settings["isolation.level"] for name, settings in configuration.items()} == {
        "observer-committed": "read_committed",
        "observer-uncommitted": "read_uncommitted",
    }
    json.dumps(configuration)


@pytest.mark.parametrize("sender", SENDERS, ids=lambda sender: sender.name)
def test_each_sender_uses_acks_all_and_idempotence(sender) -> None:
    plain, transactional = (sender.settings(transactional=on) for on in (False, True))
    json.dumps([plain, transactional])
    for settings in (plain, transactional):
        assert settings["acks"] == "all"
        assert settings.get("enable.idempotence", settings.get("enable_idempotence")) is True
    timeouts = {"transaction.timeout.ms", "transaction_timeout_ms"}
    assert timeouts.isdisjoint(plain)
    assert [transactional[name] for name in timeouts & transactional.keys()] == [20_000]


def test_resend_seconds_sets_the_message_timeout() -> None:
    settings = Librdkafka(resend_seconds=2.0).settings(transactional=False)
    assert settings["message.timeout.ms"] == 2000
    assert LIBRDKAFKA.settings(transactional=False)["message.timeout.ms"] == 120_000
    assert LIBRDKAFKA.settings(transactional=True)["message.timeout.ms"] == 20_000


def test_python_senders_run_on_this_interpreter() -> None:
    for sender in (LIBRDKAFKA, KAFKA_PYTHON, AIOKAFKA):
        command = sender.command(Path("task.json"), None)
        assert command[0] == sys.executable
        assert str(command[-2]).startswith("onceproof.harness.workload.clients.")
        assert command[-1] == Path("task.json")


def test_observer_that_ends_by_itself_is_reported() -> None:
    observer = Observer(isolation="read_committed")
    observed = Observed((observer,), ("payments",), parts_in(Path()))
    child = FakeProcess("observer-committed#1", lives=False, status=1)
    observed._children = [child]
    with pytest.raises(ObserverTrouble, match=r"observer-committed exited with 1; .*last words"):
        observed.check()
    child.ending = True
    observed.check()


def test_observers_flow_once_each_has_read() -> None:
    both = (Observer(isolation="read_committed"), Observer(isolation="read_uncommitted"))
    observed = Observed(both, ("payments",), parts_in(Path()))
    assert not observed.flows()
    observed._status["observer-uncommitted"].read = 3
    assert not observed.flows()
    observed._status["observer-committed"].read = 1
    assert observed.flows()
    assert observed.commits == 4


def test_producer_scenarios_exist_for_each_sender() -> None:
    found = {scenario.name: scenario for scenario in all_scenarios()}
    for kind in ("idempotent", "transactional"):
        for sender in SENDERS:
            for name in (f"{kind}-{sender.name}", f"{kind}-{sender.name}-quiet"):
                assert found[name].sender is sender
                assert found[name].subject.sends
                assert bool(found[name].schedule) is not name.endswith("-quiet")
    for module in (idempotent_producers, transactional_producers):
        assert all(s.claims and all(c.expect for c in s.claims) for s in module.SCENARIOS)


def test_believer_reads_at_its_actual_isolation_level() -> None:
    believer = Observer(isolation="read_uncommitted", believes="read_committed")
    assert believer.settings()["isolation.level"] == "read_uncommitted"
    assert believer.name == "observer-uncommitted"

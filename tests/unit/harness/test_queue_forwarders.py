"""Forwarders on trial: what their scenarios stand on, what is counted, and faults by hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.artemis.configuration import QueueSettings
from harness.faults.by_hand import UnknownFault, asked
from harness.faults.kill_forwarder import KillForwarder
from harness.faults.kill_queue_broker_at import KillQueueBrokerAt
from harness.faults.pause_forwarder import PauseForwarder
from harness.feasible import feasible
from harness.scenario import BadScenario
from harness.stage.backends import DOCKER, EVERYTHING, offers
from harness.subjects.group.hazards import ABANDONED, REPLAYED
from harness.subjects.queue.hazards import REDELIVERED, hazards
from harness.subjects.queue.subject import QueueForwarder
from harness.subjects.queue.task import ForwarderTask
from harness.tools.error import SetupError
from onceproof.matrix.plan import plan
from scenarios import connect, queues


def told(sent: str, given: str = "") -> dict[str, list[dict[str, Any]]]:
    """`in:a` is a message of the input, `out:a` an effect; what was given is told in order."""
    pairs = [word.split(":") for word in sent.split()]
    return {
        "log": [{"topic": topic, "record": record or None} for topic, record in pairs],
        "delivered": [{"record": r, "at": at} for at, r in enumerate(given.split())],
    }


def counted(found: Iterable[dict[str, Any]]) -> dict[str, str]:
    return {row["hazard"]: row["detail"].split()[0] for row in found}


def test_what_put_them_to_the_test() -> None:
    lines = told("in:a in:b in:c in: out:a out:a out:b out: out:", given="a b b c a b")
    found = hazards(lines, source="in", sink="out")
    assert next(row["at"] for row in found if row["hazard"] == REDELIVERED) == 2
    assert counted(found) == {REDELIVERED: "2", REPLAYED: "1", ABANDONED: "1"}


def test_what_was_sent_twice_is_given_twice() -> None:
    lines = told("in:a in:a out:a out:a", given="a a")
    assert not hazards(lines, source="in", sink="out")
    assert set(counted(hazards(told("in:a in:a out:a", "a a a"), source="in", sink="out"))) == {
        REDELIVERED
    }


def test_nothing_put_them_to_the_test() -> None:
    assert not hazards(told("in:a out:a", given="a"), source="in", sink="out")
    assert not hazards({}, source="in", sink="out")


@pytest.mark.parametrize("scenario", queues.SCENARIOS, ids=lambda scenario: scenario.name)
def test_nothing_of_it_is_a_topic(scenario: Any) -> None:
    assert scenario.all_topics == ()
    assert scenario.queues[0] == "payments"
    assert scenario.needs == {"queues"}
    assert set(scenario.subject.sinks) <= set(scenario.queues)


def test_other_scenarios_need_no_queues() -> None:
    assert all(not s.queues and not s.needs for s in connect.SCENARIOS)


def test_a_queue_has_one_partition() -> None:
    hurt = queues.SCENARIOS[0]
    with pytest.raises(BadScenario, match="expected partitions=1"):
        replace(hurt, workload=replace(hurt.workload, partitions=3))


def test_only_the_local_backend_has_queues() -> None:
    hurt = queues.SCENARIOS[1]
    assert feasible(hurt, EVERYTHING) == (hurt, ())
    with pytest.raises(SetupError, match="jms-forwarder-transacted needs queues, which this stage"):
        feasible(hurt, offers(DOCKER))
    local, docker = plan([hurt], ["local", DOCKER], 1)
    assert (local.lacks, docker.lacks) == (None, "docker does not offer queues")


def test_each_has_a_name_of_its_own() -> None:
    names = [scenario.name for scenario in queues.SCENARIOS]
    assert len(set(names)) == len(names)
    assert QueueForwarder().name == "jms-forwarder-transacted"
    ids = QueueForwarder(acknowledge="client", duplicate_ids=True)
    assert ids.name == "jms-forwarder-client-ids"
    assert "drops what it has taken before" in ids.says
    assert "Broken twin" not in ids.says
    twins = {
        s.subject.name: s.subject.says for s in queues.SCENARIOS if s.name.startswith(ids.name)
    }
    assert set(twins) == {ids.name, f"{ids.name}-forgetful", f"{ids.name}-narrow"}
    assert all("Broken twin" in twins[f"{ids.name}-{what}"] for what in ("forgetful", "narrow"))


def test_amqp_has_no_acknowledgement_before_the_effect() -> None:
    assert QueueForwarder(client="amqp", acknowledge="client").name == "amqp-forwarder-client"
    with pytest.raises(ValueError, match="accept a message after its effect, or with it"):
        QueueForwarder(client="amqp", acknowledge="auto")


def test_a_report_says_what_the_broker_remembers() -> None:
    narrow = QueueForwarder(queue_broker=QueueSettings(id_cache_size=10))
    assert narrow.configuration()["duplicate detection"] == {
        "id_cache_size": 10,
        "persist_id_cache": True,
    }


def test_a_task_is_read_as_it_was_written(tmp_path: Path) -> None:
    task = ForwarderTask(
        name="forwarder-0", broker="127.0.0.1:1", source="in::in", sink="out",
        acknowledge="client", duplicate_ids=True, work=str(tmp_path), history=str(tmp_path),
    )  # fmt: skip
    task.save(tmp_path / "task.json")
    assert ForwarderTask.load(tmp_path / "task.json") == task


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (
            ["kill-forwarder", "forwarder-1", "before-write"],
            KillForwarder(forwarder="forwarder-1", moment="before-write"),
        ),
        (
            ["pause-forwarder", "forwarder-0", "before-commit"],
            PauseForwarder(forwarder="forwarder-0", moment="before-commit"),
        ),
        (
            ["kill-queue-broker-at", "forwarder-0", "after-commit"],
            KillQueueBrokerAt(forwarder="forwarder-0", moment="after-commit"),
        ),
    ],
)
def test_by_hand(words: list[str], fault: object) -> None:
    assert asked(words[0], words[1:]) == fault


@pytest.mark.parametrize(
    ("who", "when", "said"),
    [
        ("member-0", "before-write", "'member-0' is no forwarder"),
        ("forwarder-0", "at-noon", "'at-noon' is no moment; expected before-write or"),
    ],
)
def test_by_hand_with_other_words(who: str, when: str, said: str) -> None:
    with pytest.raises(UnknownFault, match=said):
        asked("kill-forwarder", [who, when])

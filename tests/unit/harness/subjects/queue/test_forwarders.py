"""Forwarders on trial: what their scenarios stand on, what is counted, and faults by hand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.artemis.auditor import Counts, QueueTrouble
from onceproof.harness.artemis.configuration import QueueSettings
from onceproof.harness.faults.by_hand import asked
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.targets.forwarder import Forwarder
from onceproof.harness.faults.targets.service import QueueBroker
from onceproof.harness.faults.words import UnknownFault
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.schedule.scenario import BadScenario
from onceproof.harness.schedule.supported_faults import offered_to, with_supported_faults
from onceproof.harness.stage.backends import DOCKER, EVERYTHING, PLAIN_TEXT, offers
from onceproof.harness.subjects.group.hazards import ABANDONED, REPLAYED
from onceproof.harness.subjects.queue.forwarders import Forwarders
from onceproof.harness.subjects.queue.hazards import DROPPED, REDELIVERED, REWRITTEN, hazards
from onceproof.harness.subjects.queue.moments import BEFORE_COMMIT, Moments
from onceproof.harness.subjects.queue.subject import QueueForwarder
from onceproof.harness.subjects.queue.task import Acknowledge, ForwarderTask
from onceproof.harness.tools.error import SetupError
from onceproof.harness.wait import Overdue, Stop
from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.senders.jms import JMS
from onceproof.harness.workload.senders.librdkafka import LIBRDKAFKA
from onceproof.listing import needs_of
from onceproof.matrix.plan import plan
from onceproof.scenarios import connect, queues
from tests.unit.fakes.pipelines import parts_in
from tests.unit.fakes.process import FakeProcess
from tests.unit.fakes.run_context import FakeContext, FakeStop
from tests.unit.fakes.stage import FakeStage


def told(sent: str, **others: str) -> dict[str, list[dict[str, Any]]]:
    """`in:a` is a message of the input, `out:a` an effect; what was given and written, in order."""
    pairs = [word.split(":") for word in sent.split()]
    log = [{"topic": topic, "record": record or None} for topic, record in pairs]
    return {"log": log} | {
        kind: [{"record": r, "at": at} for at, r in enumerate(records.split())]
        for kind, records in others.items()
    }


def counted(found: Iterable[dict[str, Any]]) -> dict[str, str]:
    return {row["hazard"]: row["detail"].split()[0] for row in found}


def test_what_put_them_to_the_test() -> None:
    lines = told(
        "in:a in:b in:c in: out:a out:a out:b out: out:",
        delivered="a b b c a b",
        written="a b a",
    )
    found = hazards(lines, source="in", sink="out", dropped=["b", "b"])
    at = {row["hazard"]: row["at"] for row in found}
    assert (at[REDELIVERED], at[REWRITTEN]) == (2, 2)
    assert counted(found) == {
        REDELIVERED: "2",
        REWRITTEN: "1",
        DROPPED: "2",
        REPLAYED: "1",
        ABANDONED: "1",
    }


def test_what_was_sent_twice_is_given_twice() -> None:
    lines = told("in:a in:a out:a out:a", delivered="a a", written="a a")
    assert not hazards(lines, source="in", sink="out")
    lines = told("in:a in:a out:a", delivered="a a a")
    assert set(counted(hazards(lines, source="in", sink="out"))) == {REDELIVERED}


def test_what_is_missing_from_the_log_was_not_given_again() -> None:
    assert not hazards(told("out:a", delivered="a", written="a"), source="in", sink="out")


def test_nothing_put_them_to_the_test() -> None:
    assert not hazards(told("in:a out:a", delivered="a"), source="in", sink="out")
    assert not hazards({}, source="in", sink="out")


@pytest.mark.parametrize("scenario", queues.SCENARIOS, ids=lambda scenario: scenario.name)
def test_nothing_of_it_is_a_topic(scenario: Any) -> None:
    assert scenario.all_topics == ()
    assert scenario.queues[0] == "payments"
    assert scenario.needs - {PLAIN_TEXT} == {"queues"}
    assert set(scenario.subject.sinks) <= set(scenario.queues)
    assert "queues" in needs_of(scenario)


def test_other_scenarios_need_no_queues() -> None:
    assert all(not s.queues and s.needs <= {PLAIN_TEXT} for s in connect.SCENARIOS)


def test_a_queue_has_one_partition() -> None:
    hurt = queues.SCENARIOS[0]
    with pytest.raises(BadScenario, match="expected partitions=1"):
        replace(hurt, workload=replace(hurt.workload, partitions=3))


@pytest.mark.parametrize("sender", [LIBRDKAFKA, JMS])
def test_a_queue_is_fed_by_who_sends_to_queues(sender: Sender) -> None:
    fed = queues.SCENARIOS[0] if sender is LIBRDKAFKA else connect.SCENARIOS[0]
    with pytest.raises(BadScenario, match="expected both to use input queues, or neither"):
        replace(fed, sender=sender, workload=replace(fed.workload, partitions=1, producers=1))


def test_where_there_is_no_queue_broker_none_is_offered() -> None:
    assert "queues" in offered_to(queues.SCENARIOS[0], EVERYTHING)
    assert "queues" not in offered_to(connect.SCENARIOS[0], EVERYTHING)


def test_only_the_local_backend_has_queues() -> None:
    hurt = queues.SCENARIOS[1]
    assert with_supported_faults(hurt, EVERYTHING) == (hurt, ())
    with pytest.raises(SetupError, match="jms-forwarder-transacted needs queues, which this stage"):
        with_supported_faults(hurt, offers(DOCKER))
    local, docker = plan([hurt], ["local", DOCKER], 1)
    assert (local.lacks, docker.lacks) == (None, "docker does not offer queues")


def test_each_has_a_name_of_its_own() -> None:
    names = [scenario.name for scenario in queues.SCENARIOS]
    assert len(set(names)) == len(names)
    assert QueueForwarder().name == "jms-forwarder-transacted"
    ids = QueueForwarder(acknowledge="client", duplicate_ids=True)
    assert ids.name == "jms-forwarder-client-ids"
    assert "the broker drops duplicates" in ids.says
    assert "Broken twin" not in ids.says
    twins = {
        s.subject.name: s.subject.says for s in queues.SCENARIOS if s.name.startswith(ids.name)
    }
    assert set(twins) == {ids.name, f"{ids.name}-forgetful", f"{ids.name}-narrow"}
    assert all("Broken twin" in twins[f"{ids.name}-{what}"] for what in ("forgetful", "narrow"))


def test_amqp_has_no_acknowledgement_before_the_effect() -> None:
    assert QueueForwarder(client="amqp", acknowledge="client").name == "amqp-forwarder-client"
    with pytest.raises(ValueError, match="does not support acknowledge='auto': expected"):
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
            ["kill", "forwarder-1", "--at", "before-write"],
            Kill(Forwarder(name="forwarder-1"), at="before-write"),
        ),
        (
            ["pause", "forwarder-0", "--at", "before-commit"],
            Pause(Forwarder(name="forwarder-0"), at="before-commit"),
        ),
        (
            ["kill", "queue-broker", "--at", "after-commit"],
            Kill(QueueBroker(forwarder="forwarder-0"), at="after-commit"),
        ),
    ],
)
def test_by_hand(words: list[str], fault: object) -> None:
    assert asked(words[0], words[1:]) == fault


@pytest.mark.parametrize(
    ("who", "when", "said"),
    [
        ("forwarder", "before-write", "invalid target 'forwarder': .*forwarder-<n>"),
        ("forwarder-0", "at-noon", "invalid window 'at-noon': expected before-write or"),
    ],
)
def test_by_hand_with_other_words(who: str, when: str, said: str) -> None:
    with pytest.raises(UnknownFault, match=said):
        asked("kill", [who, "--at", when])


class Life:
    """A process that is there, or stands still."""

    frozen_ = False

    def leader_alive(self) -> bool:
        return True

    def frozen(self) -> bool:
        return self.frozen_


class Queues:
    """What the broker says."""

    def __init__(self) -> None:
        self.now: Counts | None = Counts(messages=0, delivering=0, consumers=2)
        self.all = 5
        self.out = [{"r8", "r9"}, {"r9"}, set[str]()]

    def delivering(self, queue: str) -> set[str]:
        assert queue == "payments"
        return self.out.pop(0) if self.out else set()

    def counts(self, queue: str) -> Counts:
        assert queue == "payments"
        if self.now is None:
            raise QueueTrouble("away")
        return self.now

    def sent(self, address: str) -> int:
        self.counts("payments")
        return self.all if address == "payments" else 3


@pytest.fixture
def world(tmp_path: Path) -> tuple[Forwarders, Queues]:
    return forwarding(tmp_path, "client")


def forwarding(
    tmp_path: Path, acknowledge: Acknowledge, stop: Stop | None = None
) -> tuple[Forwarders, Queues]:
    queues = Queues()
    tasks = [
        ForwarderTask(
            name=f"forwarder-{n}", broker="", source="", sink="out",
            acknowledge=acknowledge, duplicate_ids=False, work=str(tmp_path), history=str(tmp_path),
        )
        for n in range(2)
    ]  # fmt: skip
    made = Forwarders(
        tasks,
        parts_in(tmp_path, stage=FakeStage(auditor=queues), stop=stop),
        program=lambda task: [],
    )
    made._running = {name: Life() for name in made.names}  # type: ignore[misc]
    return made, queues


def test_they_are_at_the_end_when_nothing_is_left(world: tuple[Forwarders, Queues]) -> None:
    forwarders, queues = world
    assert forwarders.positions() == {("payments", 0): 5}
    assert forwarders.idle()
    queues.now = Counts(messages=1, delivering=1, consumers=2)
    assert forwarders.positions() is None
    assert not forwarders.idle()
    queues.now = Counts(messages=1, delivering=0, consumers=2)
    assert forwarders.positions() is None
    assert forwarders.flows()
    queues.now = None
    assert (forwarders.positions(), forwarders.consumers()) == (None, None)
    assert not forwarders.idle()
    assert forwarders.commits == 3, "as many as at last"


def test_who_stands_still_is_not_waited_for(world: tuple[Forwarders, Queues]) -> None:
    forwarders, queues = world
    queues.now = Counts(messages=0, delivering=0, consumers=1)
    forwarders._running["forwarder-1"].frozen_ = True  # type: ignore[attr-defined]
    forwarders.wait_consuming()


def test_who_was_given_a_record(world: tuple[Forwarders, Queues], tmp_path: Path) -> None:
    forwarders, _ = world
    assert forwarders.given("r1", since=5, but="forwarder-0") is None
    rows = [
        {"t": "delivered", "record": "r1", "at": 4},
        {"t": "written", "record": "r1", "at": 7},
        {"t": "delivered", "record": "r11", "at": 8},
    ]
    told = tmp_path / "forwarder-1.jsonl"
    told.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert forwarders.given("r1", since=5, but="forwarder-0") is None
    with told.open("a") as file:
        file.write(json.dumps({"t": "delivered", "record": "r1", "at": 9}) + "\n" + '{"t": "r1')
    assert forwarders.given("r1", since=5, but="forwarder-0") == "forwarder-1"
    assert forwarders.given("r1", since=5, but="forwarder-1") is None


def test_one_that_does_not_come_to_its_moment_is_let_go(
    tmp_path: Path,
) -> None:
    forwarders, _ = forwarding(tmp_path, "client", FakeStop())
    with (
        pytest.raises(Overdue, match="forwarder-0 to reach before-commit"),
        forwarders.standing("forwarder-0", BEFORE_COMMIT),
    ):
        pytest.fail("it did not stand still")
    assert not list(tmp_path.iterdir())


def test_what_goes_wrong_while_it_stands_lets_it_go(
    world: tuple[Forwarders, Queues], tmp_path: Path
) -> None:
    forwarders, _ = world
    there = threading.Thread(target=stand, args=(tmp_path,), daemon=True)
    there.start()
    stood = []

    def in_vain(record: str) -> None:
        stood.append(record)
        raise StageTrouble("it cannot be killed")

    with (
        pytest.raises(StageTrouble),
        forwarders.standing("forwarder-0", BEFORE_COMMIT) as record,
    ):
        in_vain(record)
    assert stood == ["r9"]
    there.join(10)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("acknowledge", "left"), [("auto", 0), ("client", 3)])
def test_what_is_consumed_when_it_is_handed_out_is_so_at_the_broker_too(
    tmp_path: Path, acknowledge: Acknowledge, left: int
) -> None:
    forwarders, queues = forwarding(tmp_path, acknowledge)
    there = threading.Thread(target=stand, args=(tmp_path,), daemon=True)
    there.start()
    with forwarders.standing("forwarder-0", BEFORE_COMMIT) as record:
        assert (record, len(queues.out)) == ("r9", left)
    forwarders.let_go("forwarder-0")
    there.join(10)


def stand(folder: Path) -> None:
    """Come to the moment again and again, until it was held there once."""
    moments = Moments(folder, "forwarder-0")
    until = time.monotonic() + 20
    while time.monotonic() < until and not (folder / "forwarder-0.hold").exists():
        time.sleep(0.002)
    moments.reached(BEFORE_COMMIT, "r9")


def test_one_that_was_asked_to_end_is_started_again(world: tuple[Forwarders, Queues]) -> None:
    forwarders, _ = world
    asked_to: list[str] = []

    def stop(who: str, how: str) -> FakeProcess:
        asked_to.append(f"stop {who}")
        life = FakeProcess(f"{who}#1")
        life.stop(how)
        return life

    forwarders.stop = stop  # type: ignore[method-assign]
    forwarders.restart = lambda who: asked_to.append(f"start {who}")  # type: ignore[method-assign]
    context = FakeContext(pipeline=forwarders)
    fault = asked("stop", ["forwarder-1"])
    assert fault.describe() == "SIGTERM forwarder-1"
    injection = fault.inject(context, "stop-1")
    assert injection.evidence() == "forwarder-1#1 exited with 143: SIGTERM by fault «stop-1»"
    injection.heal()
    assert asked_to == ["stop forwarder-1", "start forwarder-1"]


def test_there_is_no_forwarder_of_that_name(world: tuple[Forwarders, Queues]) -> None:
    with pytest.raises(StageTrouble, match="'forwarder-7': expected forwarder-0 or forwarder-1"):
        world[0].let_go("forwarder-7")

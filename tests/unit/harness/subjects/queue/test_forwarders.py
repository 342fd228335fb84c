"""Queue forwarders: requirements of their scenarios, hazards, and faults by hand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.artemis.configuration import Artemis
from onceproof.harness.faults.by_hand import asked
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.targets.forwarder import Forwarder
from onceproof.harness.faults.targets.service import QueueBroker
from onceproof.harness.faults.words import UnknownFault
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.queues.auditor import Counts, QueueTrouble
from onceproof.harness.schedule.scenario import BadScenario
from onceproof.harness.schedule.supported_faults import offered_to, with_supported_faults
from onceproof.harness.stage.backends import DOCKER, EVERYTHING, PLAIN_TEXT, offers
from onceproof.harness.subjects.group.hazards import ABANDONED, REPLAYED
from onceproof.harness.subjects.queue.clients import Client
from onceproof.harness.subjects.queue.forwarders import Forwarders
from onceproof.harness.subjects.queue.hazards import DROPPED, REDELIVERED, REWRITTEN, hazards
from onceproof.harness.subjects.queue.moments import BEFORE_COMMIT, Moments
from onceproof.harness.subjects.queue.subject import QueueForwarder
from onceproof.harness.subjects.queue.task import Acknowledge, ForwarderTask
from onceproof.harness.tools.error import SetupError
from onceproof.harness.valkey.configuration import Streams
from onceproof.harness.wait import Overdue, Stop
from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.senders.jms import JMS
from onceproof.harness.workload.senders.librdkafka import LIBRDKAFKA
from onceproof.harness.workload.senders.valkey_py import VALKEY_PY
from onceproof.listing import needs_of
from onceproof.matrix.plan import plan
from onceproof.scenarios import connect, jetstream, queues, valkey
from tests.unit.fakes.pipelines import parts_in
from tests.unit.fakes.process import FakeProcess
from tests.unit.fakes.run_context import FakeContext, FakeStop
from tests.unit.fakes.stage import FakeStage


def history_of(sent: str, **others: str) -> dict[str, list[dict[str, Any]]]:
    """Build history lines: `in:a` is an input message, `out:a` an effect."""
    pairs = [word.split(":") for word in sent.split()]
    log = [{"topic": topic, "record": record or None} for topic, record in pairs]
    return {"log": log} | {
        kind: [{"record": r, "at": at} for at, r in enumerate(records.split())]
        for kind, records in others.items()
    }


def counts_by_hazard(found: Iterable[dict[str, Any]]) -> dict[str, str]:
    return {row["hazard"]: row["detail"].split()[0] for row in found}


def test_finds_each_hazard_with_its_count() -> None:
    lines = history_of(
        "in:a in:b in:c in: out:a out:a out:b out: out:",
        delivered="a b b c a b",
        written="a b a",
    )
    found = hazards(lines, source="in", sink="out", dropped=["b", "b"])
    at = {row["hazard"]: row["at"] for row in found}
    assert (at[REDELIVERED], at[REWRITTEN]) == (2, 2)
    assert counts_by_hazard(found) == {
        REDELIVERED: "2",
        REWRITTEN: "1",
        DROPPED: "2",
        REPLAYED: "1",
        ABANDONED: "1",
    }


def test_message_sent_twice_may_be_delivered_twice() -> None:
    lines = history_of("in:a in:a out:a out:a", delivered="a a", written="a a")
    assert not hazards(lines, source="in", sink="out")
    lines = history_of("in:a in:a out:a", delivered="a a a")
    assert set(counts_by_hazard(hazards(lines, source="in", sink="out"))) == {REDELIVERED}


def test_message_missing_from_the_log_is_not_redelivered() -> None:
    assert not hazards(history_of("out:a", delivered="a", written="a"), source="in", sink="out")


def test_undisturbed_run_has_no_hazards() -> None:
    assert not hazards(history_of("in:a out:a", delivered="a"), source="in", sink="out")
    assert not hazards({}, source="in", sink="out")


@pytest.mark.parametrize(
    "scenario",
    [*queues.SCENARIOS, *jetstream.SCENARIOS, *valkey.SCENARIOS],
    ids=lambda scenario: scenario.name,
)
def test_queue_scenarios_have_queues_and_no_topics(scenario: Any) -> None:
    assert scenario.all_topics == ()
    assert scenario.queues[0] == "payments"
    assert scenario.needs - {PLAIN_TEXT} == {"queues", scenario.queue_broker.product} - {"artemis"}
    assert set(scenario.subject.sinks) <= set(scenario.queues)
    assert "queues" in needs_of(scenario)


def test_other_scenarios_need_no_queues() -> None:
    assert all(not s.queues and s.needs <= {PLAIN_TEXT} for s in connect.SCENARIOS)


def test_queue_requires_one_partition() -> None:
    scenario = queues.SCENARIOS[0]
    with pytest.raises(BadScenario, match="expected partitions=1"):
        replace(scenario, workload=replace(scenario.workload, partitions=3))


@pytest.mark.parametrize("sender", [LIBRDKAFKA, JMS])
def test_rejects_sender_and_subject_that_disagree_on_queues(sender: Sender) -> None:
    scenario = queues.SCENARIOS[0] if sender is LIBRDKAFKA else connect.SCENARIOS[0]
    with pytest.raises(BadScenario, match="expected both to use input queues, or neither"):
        replace(
            scenario, sender=sender, workload=replace(scenario.workload, partitions=1, producers=1)
        )


def test_rejects_sender_of_another_queue_broker() -> None:
    with pytest.raises(BadScenario, match="expected both to use the same queue broker"):
        replace(jetstream.SCENARIOS[0], sender=VALKEY_PY)


def test_broker_of_senders_is_the_one_that_they_name() -> None:
    (scenario,) = (s for s in valkey.SCENARIOS if s.name == "valkey-sender-forgetful")
    assert scenario.queue_broker == Streams(append_only=False)


@pytest.mark.parametrize("scenario", [jetstream.SCENARIOS[0], valkey.SCENARIOS[0]])
def test_containers_have_no_nats_and_no_valkey(scenario: Any) -> None:
    assert with_supported_faults(scenario, offers("local")) == (scenario, ())
    product = scenario.queue_broker.product
    with pytest.raises(SetupError, match=f"needs {product}, which this stage"):
        with_supported_faults(scenario, offers(DOCKER))


@pytest.mark.parametrize(
    ("client", "acknowledge"), [("amqp", "auto"), ("jetstream", "transacted"), ("jms", "scripted")]
)
def test_rejects_what_a_client_cannot_do(client: Client, acknowledge: Acknowledge) -> None:
    with pytest.raises(ValueError, match=f"client='{client}' does not support"):
        QueueForwarder(client=client, acknowledge=acknowledge)


def test_queues_are_offered_to_queue_scenarios_only() -> None:
    assert "queues" in offered_to(queues.SCENARIOS[0], EVERYTHING)
    assert "queues" not in offered_to(connect.SCENARIOS[0], EVERYTHING)


def test_processes_and_containers_have_queues() -> None:
    scenario = queues.SCENARIOS[1]
    for backend in ("local", DOCKER):
        assert with_supported_faults(scenario, offers(backend)) == (scenario, ())
    assert [place.lacks for place in plan([scenario], ["local", DOCKER], 1)] == [None, None]
    with pytest.raises(SetupError, match="jms-forwarder-transacted needs queues, which this stage"):
        with_supported_faults(scenario, EVERYTHING - {"queues"})


def test_each_variant_has_its_own_name() -> None:
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


def test_amqp_rejects_auto_acknowledgement() -> None:
    assert QueueForwarder(client="amqp", acknowledge="client").name == "amqp-forwarder-client"
    with pytest.raises(ValueError, match="does not support acknowledge='auto': expected"):
        QueueForwarder(client="amqp", acknowledge="auto")


def test_configuration_includes_duplicate_detection() -> None:
    narrow = QueueForwarder(broker=Artemis(id_cache_size=10))
    assert narrow.configuration()["duplicate detection"] == {
        "id_cache_size": 10,
        "persist_id_cache": True,
    }


def test_task_survives_save_and_load(tmp_path: Path) -> None:
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
def test_parses_faults_by_hand(words: list[str], fault: object) -> None:
    assert asked(words[0], words[1:]) == fault


@pytest.mark.parametrize(
    ("target", "window", "message"),
    [
        ("forwarder", "before-write", "invalid target 'forwarder': .*forwarder-<n>"),
        ("forwarder-0", "at-noon", "invalid window 'at-noon': expected before-write or"),
    ],
)
def test_rejects_unknown_target_or_window(target: str, window: str, message: str) -> None:
    with pytest.raises(UnknownFault, match=message):
        asked("kill", [target, "--at", window])


class FakeLife:
    """A living process, frozen if `frozen_` is set."""

    frozen_ = False

    def leader_alive(self) -> bool:
        return True

    def frozen(self) -> bool:
        return self.frozen_


class FakeQueues:
    """An auditor of the broker's queues."""

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
def world(tmp_path: Path) -> tuple[Forwarders, FakeQueues]:
    return make_forwarders(tmp_path, "client")


def make_forwarders(
    tmp_path: Path, acknowledge: Acknowledge, stop: Stop | None = None
) -> tuple[Forwarders, FakeQueues]:
    queues = FakeQueues()
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
    made._running = {name: FakeLife() for name in made.names}  # type: ignore[misc]
    return made, queues


def test_forwarders_are_idle_only_when_the_queue_is_drained(
    world: tuple[Forwarders, FakeQueues],
) -> None:
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


def test_wait_consuming_skips_frozen_forwarders(world: tuple[Forwarders, FakeQueues]) -> None:
    forwarders, queues = world
    queues.now = Counts(messages=0, delivering=0, consumers=1)
    forwarders._running["forwarder-1"].frozen_ = True  # type: ignore[attr-defined]
    forwarders.wait_consuming()


def test_given_names_the_forwarder_of_a_later_delivery(
    world: tuple[Forwarders, FakeQueues], tmp_path: Path
) -> None:
    forwarders, _ = world
    assert forwarders.given("r1", since=5, but="forwarder-0") is None
    rows = [
        {"t": "delivered", "record": "r1", "at": 4},
        {"t": "written", "record": "r1", "at": 7},
        {"t": "delivered", "record": "r11", "at": 8},
    ]
    history = tmp_path / "forwarder-1.jsonl"
    history.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert forwarders.given("r1", since=5, but="forwarder-0") is None
    with history.open("a") as file:
        file.write(json.dumps({"t": "delivered", "record": "r1", "at": 9}) + "\n" + '{"t": "r1')
    assert forwarders.given("r1", since=5, but="forwarder-0") == "forwarder-1"
    assert forwarders.given("r1", since=5, but="forwarder-1") is None


def test_forwarder_that_misses_its_moment_is_released(
    tmp_path: Path,
) -> None:
    forwarders, _ = make_forwarders(tmp_path, "client", FakeStop())
    with (
        pytest.raises(Overdue, match="forwarder-0 to reach before-commit"),
        forwarders.standing("forwarder-0", BEFORE_COMMIT),
    ):
        pytest.fail("it did not stand still")
    assert not list(tmp_path.iterdir())


def test_error_while_held_releases_the_forwarder(
    world: tuple[Forwarders, FakeQueues], tmp_path: Path
) -> None:
    forwarders, _ = world
    thread = threading.Thread(target=reach_held_moment, args=(tmp_path,), daemon=True)
    thread.start()
    held = []

    def fail_to_kill(record: str) -> None:
        held.append(record)
        raise StageTrouble("it cannot be killed")

    with (
        pytest.raises(StageTrouble),
        forwarders.standing("forwarder-0", BEFORE_COMMIT) as record,
    ):
        fail_to_kill(record)
    assert held == ["r9"]
    thread.join(10)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("acknowledge", "left"), [("auto", 0), ("client", 3)])
def test_auto_acknowledge_waits_until_the_broker_has_consumed_the_record(
    tmp_path: Path, acknowledge: Acknowledge, left: int
) -> None:
    forwarders, queues = make_forwarders(tmp_path, acknowledge)
    thread = threading.Thread(target=reach_held_moment, args=(tmp_path,), daemon=True)
    thread.start()
    with forwarders.standing("forwarder-0", BEFORE_COMMIT) as record:
        assert (record, len(queues.out)) == ("r9", left)
    forwarders.let_go("forwarder-0")
    thread.join(10)


def reach_held_moment(folder: Path) -> None:
    """Reach the moment as soon as the forwarder is to be held there."""
    moments = Moments(folder, "forwarder-0")
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not (folder / "forwarder-0.hold").exists():
        time.sleep(0.002)
    moments.reached(BEFORE_COMMIT, "r9")


def test_stop_fault_starts_the_forwarder_again_on_heal(
    world: tuple[Forwarders, FakeQueues],
) -> None:
    forwarders, _ = world
    actions: list[str] = []

    def stop(who: str, how: str) -> FakeProcess:
        actions.append(f"stop {who}")
        life = FakeProcess(f"{who}#1")
        life.stop(how)
        return life

    forwarders.stop = stop  # type: ignore[method-assign]
    forwarders.restart = lambda who: actions.append(f"start {who}")  # type: ignore[method-assign]
    context = FakeContext(pipeline=forwarders)
    fault = asked("stop", ["forwarder-1"])
    assert fault.describe() == "SIGTERM forwarder-1"
    injection = fault.inject(context, "stop-1")
    assert injection.evidence() == "forwarder-1#1 exited with 143: SIGTERM by fault «stop-1»"
    injection.heal()
    assert actions == ["stop forwarder-1", "start forwarder-1"]


def test_unknown_forwarder_is_refused(world: tuple[Forwarders, FakeQueues]) -> None:
    with pytest.raises(StageTrouble, match="'forwarder-7': expected forwarder-0 or forwarder-1"):
        world[0].let_go("forwarder-7")

"""A queue broker on a stage without Kafka brokers: its lives, links and log.

Acknowledged messages remain in the unconsumed queue across restarts.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.artemis.configuration import Artemis
from onceproof.harness.artemis.programs import artemis_programs
from onceproof.harness.faults.links.probe import Probe
from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import QUEUE_BROKER, Link
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.queues.auditor import QueueTrouble
from onceproof.harness.queues.base import Queues
from onceproof.harness.queues.log import QueueLog
from onceproof.harness.stage.alone import Alone, alone
from onceproof.harness.subjects.queue.moments import BEFORE_WRITE, Moments
from onceproof.harness.subjects.queue.task import Acknowledge, ForwarderTask
from onceproof.harness.tools.jars_for import artemis_jars
from onceproof.harness.tools.proton import proton
from onceproof.harness.tools.setup import ensure
from tests.end_to_end.catalogue import LATER
from tests.integration.sending import send_payments
from tests.integration.staging import eventually

pytestmark = pytest.mark.integration
LINK = Link("producer", QUEUE_BROKER)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alone]:
    tools = ensure()
    assert tools.stage is not None
    queues = Queues(
        addresses=("payments", "payments-auto", "payments-client", "payments-with-fees"),
        unconsumed=("shipments",),
        settings=Artemis(),
        tools=tools,
    )
    folder = tmp_path_factory.mktemp("queues")
    with alone(folder, tools.stage, brokers=0, queues=queues) as running_stage:
        yield running_stage
        assert running_stage.stage.disturbed() == {}


def test_acknowledged_messages_survive_a_kill(up: Alone, tmp_path: Path) -> None:
    log = QueueLog(up.stage.queues(), "payments")
    before = log.end()
    records = send_payments(up, tmp_path, seed=1)
    assert len(records) == 40
    up.stage.kill(QUEUE_BROKER, "SIGKILL by a test")
    assert up.stage.disturbed()[QUEUE_BROKER] == "not running"
    with pytest.raises(QueueTrouble):
        log.end()
    up.stage.restart(QUEUE_BROKER)
    entries = log.read(before).entries
    assert {entry.headers["onceproof-record"].decode() for entry in entries} == records
    assert len(entries) == 40
    assert log.end() == before + 40
    counts = up.stage.queues().counts("payments")
    assert (counts.messages, counts.delivering, counts.consumers) == (before + 40, 0, 0)


@pytest.mark.parametrize("acknowledge", ["auto", pytest.param("client", marks=LATER)])
def test_delivering_lists_unacknowledged_messages(
    up: Alone, tmp_path: Path, acknowledge: Acknowledge
) -> None:
    queue = f"payments-{acknowledge}"  # a separate queue for each mode, without earlier messages
    send_payments(up, tmp_path, seed=1, topic=queue)
    task = ForwarderTask(
        name="forwarder-0",
        broker=up.stage.queue_broker("pipeline"),
        source=Artemis().source(queue),
        sink="payments-with-fees",
        acknowledge=acknowledge,
        duplicate_ids=False,
        work=str(tmp_path),
        history=str(tmp_path),
    )
    task.save(tmp_path / "task.json")
    moments, queues = Moments(tmp_path, task.name), up.stage.queues()
    moments.ask(BEFORE_WRITE)
    command = artemis_programs(ensure()).command("Forwarder", tmp_path / "task.json")
    process = up.processes.start("forwarder", command)
    try:
        record = eventually(moments.held, "its first message", process.tail)
        delivering = queues.delivering(queue)
        assert len(delivering) > 1, "it is given more than it is handed out"
        if acknowledge == "client":
            assert record in delivering
        else:
            eventually(lambda: record not in queues.delivering(queue), f"{record} consumed", list)
        moments.let_go()
        eventually(lambda: not queues.delivering(queue), "all consumed", process.tail)
    finally:
        process.kill("the test is over")
    eventually(lambda: queues.counts(queue).consumers == 0, "it to be gone", list)


def test_log_has_messages_sent_by_jms(up: Alone) -> None:
    tools = ensure()
    done = subprocess.run(
        [
            tools.java_home / "bin" / "java", "-Xmx160m", "-cp", f"{artemis_jars(tools)}/*",
            Path(__file__).parent / "PutSome.java", up.stage.queue_broker("pipeline"),
        ],
        check=True, timeout=60, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert done.stdout == "may not consume it\n"
    log = QueueLog(up.stage.queues(), "shipments")
    entries = log.read().entries
    assert log.end() == len(entries) == 4
    values = [(entry.value or b"").decode() for entry in entries]
    assert values == ['{"order_id": "o1"}', "ö2", "once", "together"]
    headers = {name: data.decode() for name, data in entries[0].headers.items()}
    assert headers.items() >= {"order": "o1", "attempt": "3", "JMSCorrelationID": "c1"}.items()
    assert all(entry.key is None for entry in entries)


@LATER
def test_log_has_messages_sent_by_amqp(up: Alone) -> None:
    log = QueueLog(up.stage.queues(), "shipments")
    before = log.end()
    script = Path(__file__).parent / "put_some.py"
    address = up.stage.queue_broker("pipeline")
    subprocess.run([sys.executable, script, address, proton() or ""], check=True, timeout=60)
    entries = log.read(before).entries
    values = [(entry.value or b"").decode() for entry in entries]
    assert values == ['{"order_id": "a1"}', "ö2", "once by AMQP"]
    headers = {name: data.decode() for name, data in entries[0].headers.items()}
    assert headers.items() >= {"order": "a1", "JMSCorrelationID": "c1"}.items()


def test_stopped_broker_keeps_its_messages(up: Alone) -> None:
    log = QueueLog(up.stage.queues(), "payments")
    before = log.end()
    assert before, "the test before this has left some"
    assert "ended with status 143" in up.stage.shut_down(QUEUE_BROKER, "asked by a test")
    up.stage.restart(QUEUE_BROKER)
    assert log.end() == before


def test_paused_broker_fails_queue_counts(up: Alone) -> None:
    assert "its process is in state T" in up.stage.pause(QUEUE_BROKER)
    try:
        with pytest.raises(QueueTrouble):
            up.stage.queues().counts("payments")
    finally:
        up.stage.resume(QUEUE_BROKER)
    assert up.stage.queues().counts("payments").delivering == 0


def test_probe_observes_cut_link(up: Alone) -> None:
    with Probe(up.stage, LINK) as probe:
        short, long = probe.ask(), probe.ask(more=1000)
        assert long.sent == short.sent + 1000
        assert probe.ask(times=3).received == 3 * short.received
        assert up.stage.connections(LINK) == 1
        assert up.stage.connected("producer") == 1
        assert up.stage.connected("pipeline") == 0
        hold = up.stage.disturb(LINK, CUT)
        assert probe.until_closed() == 0
    with pytest.raises(ConnectionError):
        Probe(up.stage, LINK)
    hold.release()
    with Probe(up.stage, LINK) as probe:
        probe.ask()
    eventually(lambda: up.stage.connected("producer") == 0, "the last connection to end")


def test_stage_has_no_kafka_brokers(up: Alone) -> None:
    assert up.stage.brokers == ()
    assert up.stage.nodes == ("postgres", QUEUE_BROKER)
    with pytest.raises(StageTrouble, match="unknown node broker-1: expected postgres, queue"):
        up.stage.kill("broker-1", "a test")


def test_stage_without_queue_broker_refuses_queues(staging: Any) -> None:
    for ask in (staging.stage.queues, partial(staging.stage.queue_broker, "producer")):
        with pytest.raises(StageTrouble, match="has no queue broker"):
            ask()

"""NATS JetStream and Valkey as queue brokers: their lives, links, logs and forwarders."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from onceproof.harness.faults.links.probe import Probe
from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import QUEUE_BROKER, Link
from onceproof.harness.nats.configuration import JetStream
from onceproof.harness.queues.auditor import Counts, QueueTrouble
from onceproof.harness.queues.base import Queues
from onceproof.harness.queues.log import QueueLog
from onceproof.harness.stage.alone import Alone, alone
from onceproof.harness.subjects.queue.clients import CLIENTS, Client
from onceproof.harness.subjects.queue.moments import BEFORE_COMMIT, Moments
from onceproof.harness.subjects.queue.task import Acknowledge, ForwarderTask
from onceproof.harness.tools.setup import ensure
from onceproof.harness.valkey.configuration import Streams
from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.senders.nats_py import NATS_PY
from onceproof.harness.workload.senders.valkey_py import VALKEY_PY
from tests.integration.sending import send_payments
from tests.integration.staging import eventually

pytestmark = pytest.mark.integration
SENDERS: Final[Mapping[str, Sender]] = {"nats": NATS_PY, "valkey": VALKEY_PY}
FORWARDERS: Final[Mapping[str, tuple[Client, Acknowledge]]] = {
    "nats": ("jetstream", "client"),
    "valkey": ("valkey", "scripted"),
}


@pytest.fixture(scope="module", params=[JetStream(), Streams()], ids=["nats", "valkey"])
def up(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alone]:
    tools = ensure()
    assert tools.stage is not None
    queues = Queues(
        addresses=("payments", "orders"),
        unconsumed=("payments-with-fees",),
        settings=request.param,
        tools=tools,
    )
    folder = tmp_path_factory.mktemp("queues")
    with alone(folder, tools.stage, brokers=0, queues=queues) as running_stage:
        yield running_stage
        assert running_stage.stage.disturbed() == {}


def test_acknowledged_messages_survive_a_kill(up: Alone, tmp_path: Path) -> None:
    queues = up.stage.queues()
    log = QueueLog(queues, "orders")
    sender = SENDERS[queues.product]
    records = send_payments(up, tmp_path, seed=1, topic="orders", sender=sender)
    assert len(records) == 40
    up.stage.kill(QUEUE_BROKER, "SIGKILL by a test")
    with pytest.raises(QueueTrouble):
        log.end()
    assert up.stage.connected("producer") == 0
    up.stage.restart(QUEUE_BROKER)
    entries = log.read().entries
    assert {entry.headers["onceproof-record"].decode() for entry in entries} == records
    assert [entry.offset for entry in entries] == list(range(40))
    assert queues.counts("orders") == Counts(messages=40, delivering=0, consumers=0)


def test_messages_of_the_harness_are_sent_at_once(up: Alone) -> None:
    queues = up.stage.queues()
    rows = [{"record": f"r{n}", "key": "k", "value": f"v{n}"} for n in range(3)]
    queues.create("parts", consumed=True)
    queues.send("parts", rows)
    assert [message.value for message in queues.log("parts")] == ["v0", "v1", "v2"]
    assert (queues.sent("parts"), queues.counts("parts").messages) == (3, 3)
    with pytest.raises(QueueTrouble):
        queues.counts("nothing")


def test_forwarder_is_held_disconnected_and_resumes(up: Alone, tmp_path: Path) -> None:
    queues = up.stage.queues()
    client, acknowledge = FORWARDERS[queues.product]
    task = ForwarderTask(
        name="forwarder-0",
        broker=up.stage.queue_broker("pipeline"),
        source="payments",
        sink="payments-with-fees",
        acknowledge=acknowledge,
        duplicate_ids=client == "jetstream",
        work=str(tmp_path),
        history=str(tmp_path),
    )
    task.save(tmp_path / "task.json")
    moments = Moments(tmp_path, task.name)
    moments.ask(BEFORE_COMMIT)
    send_payments(up, tmp_path, seed=2, sender=SENDERS[queues.product])
    command = CLIENTS[client].start(ensure())(tmp_path / "task.json")
    process = up.processes.start("forwarder", command)
    try:
        record = eventually(moments.held, "its first message", process.tail)
        assert queues.counts("payments") == Counts(messages=40, delivering=1, consumers=1)
        assert up.stage.connected("pipeline") == 1
        assert (queues.requests("payments", task.name) or 0) > 0
        assert queues.disconnect("payments")
        moments.let_go()
        eventually(lambda: queues.sent("payments-with-fees") == 40, "all effects", process.tail)
        eventually(lambda: queues.counts("payments").messages == 0, "the end", process.tail)
    finally:
        process.kill("the end of a test")
    effects = QueueLog(queues, "payments-with-fees").read().entries
    assert len({entry.headers["onceproof-record"] for entry in effects}) == 40
    lines = (tmp_path / "forwarder-0.jsonl").read_text().splitlines()
    delivered = [json.loads(line) for line in lines if '"delivered"' in line]
    assert [row["record"] for row in delivered].count(record) == 2
    assert not queues.disconnect("payments")
    assert queues.requests("payments", task.name) is None


def test_probe_sees_a_cut_link(up: Alone) -> None:
    link = Link("producer", QUEUE_BROKER)
    with Probe(up.stage, link) as probe:
        small, large = probe.ask(), probe.ask(more=5_000, times=2)
        assert small.received > 0
        assert large.sent > 10_000
        hold = up.stage.disturb(link, CUT)
        probe.until_closed()
    hold.release()
    with Probe(up.stage, link) as probe:
        assert probe.ask().received == small.received

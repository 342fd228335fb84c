"""The table of faults and targets, the other half: whatever takes a whole broker, on every role.

Each cell takes seconds, so `make test` tries each of these faults on one role elsewhere, and
`make test-faults` the whole table here. Who has a role is told by other signs than the answer that
names it; what became of the broker, by clients of a few lines on either side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Producer

from onceproof.harness.context.run_context import RunContext, addresses, open_reader
from onceproof.harness.faults.by_hand import by_hand
from onceproof.harness.faults.page import ROLES, cell
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.links.topology import AUDIENCES, AUDITOR, Link
from onceproof.harness.workload.payments import Payments
from tests.end_to_end.catalogue import LATER
from tests.integration.faults import at_work, context
from tests.integration.staging import (
    Staged,
    Talk,
    Told,
    eventually,
    refuses,
    serves,
    told_by,
    whole_everywhere,
)
from tests.integration.test_fault_partitions import using
from tests.integration.test_fault_table import WORDS as LINKS
from tests.integration.test_fault_targets import kept, leader
from tests.integration.test_stage_brokers import sent
from tests.integration.test_stage_producers import Sending

pytestmark = pytest.mark.integration

OF_BROKERS = [role for role in ROLES.values() if role != "postgres"]


def have(staging: Staged, role: str, partition: str) -> set[str]:
    """Who can have a role, once it was resolved: by the logs that keep what belongs to a name."""
    stage, topic = staging.stage, partition.rpartition("-")[0]
    if role.startswith("coordinator:"):
        return {leader(staging, *kept(staging, role))}
    if role == "controller":
        return {f"broker-{view.controller()}" for view in context(stage).views().values()}
    if role.startswith("follower:"):
        return set(stage.brokers) - {leader(staging, topic, 0)}
    if role.endswith("/not/controller"):
        return set(stage.brokers) - have(staging, "controller", partition)
    return {leader(staging, topic, 0)} if role.startswith("leader:") else {role}


class Cells:
    """One role after the other, as the target of a fault."""

    def __init__(self, staging: Staged, role: str, topic: str) -> None:
        self.staging, self.stage, self.topic = staging, staging.stage, topic
        self._role = role
        self._partition = f"{topic}-0"
        self.candidates = have(staging, role, self._partition)

    def words(self, name: str) -> str:
        """How the fault is asked for here."""
        aimed = cell(by_hand()[name], self._role.replace("payments-0", self._partition))
        assert aimed is not None
        return " ".join([name, *aimed])

    def hit(self, named: str) -> str:
        """The broker that was hit, which must be one that can have the role."""
        node = next(node for node in self.stage.brokers if node in named)
        assert node in self.candidates
        return node

    def others(self, node: str) -> list[str]:
        return [other for other in self.stage.brokers if other != node]

    @contextmanager
    def in_use(self, audience: str) -> Iterator[None]:
        """Somebody of an audience has a connection to whoever can be hit."""
        with ExitStack() as clients:
            for node in self.candidates:
                clients.enter_context(using(self.staging, Link(audience, node)))
            yield

    def do_without(self, node: str) -> None:
        """Every other broker says that it leads nothing and is in sync nowhere; records flow."""

        def out() -> bool:
            return all(
                int(node[-1]) not in {told.leader, *told.in_sync}
                for other in self.others(node)
                for told in self._told(other)
            )

        eventually(out, f"the others to do without {node}")
        reachable = ",".join(self.stage.bootstrap(AUDITOR, other) for other in self.others(node))
        assert all(sent(reachable, self.topic, partition) for partition in range(3))

    def _told(self, node: str) -> list[Told]:
        told = told_by(self.stage, node, self.topic)
        assert len(told) == 3
        return list(told.values())

    def whole(self) -> None:
        """Everybody is served everywhere, and every replica is in sync, as each broker tells."""
        assert all(
            serves(self.stage.bootstrap(a, n)) for a in AUDIENCES for n in self.stage.brokers
        )
        eventually(lambda: whole_everywhere(self.stage, self.topic), "every replica in sync")
        assert all(sent(self.stage.bootstrap(AUDITOR), self.topic, n) for n in range(3))
        assert self.stage.disturbed() == {}


@pytest.fixture(params=[pytest.param(role, marks=LATER) for role in OF_BROKERS])
def cells(request: pytest.FixtureRequest, staging: Staged, topic: Callable[..., str]) -> Cells:
    return Cells(staging, request.param, topic(3))


@pytest.mark.parametrize("name", ["kill", "stop"])
def test_a_broker_that_ends(cells: Cells, name: str) -> None:
    with at_work(context(cells.stage, cells.topic), cells.words(name)) as (fault, _):
        node = cells.hit(fault.target)
        assert all(refuses(cells.stage.bootstrap(who, node)) for who in (*AUDIENCES, AUDITOR))
        cells.do_without(node)
    cells.whole()


def test_a_broker_that_stands_still(cells: Cells) -> None:
    clients = {node: Talk(cells.stage.bootstrap("producer", node)) for node in cells.stage.brokers}
    try:
        with at_work(context(cells.stage, cells.topic), cells.words("pause")) as (fault, _):
            node = cells.hit(fault.target)
            for client in clients.values():
                client.ask()
            assert all(clients[other].answered() for other in cells.others(node))
            assert not clients[node].answered(1)
            cells.do_without(node)
        assert clients[node].answered(), "what it was asked meanwhile it answers now"
    finally:
        for client in clients.values():
            client.socket.close()
    cells.whole()


@pytest.mark.parametrize("name", ["isolate", "one-way"])
def test_a_broker_that_its_peers_do_without(cells: Cells, name: str) -> None:
    with at_work(context(cells.stage, cells.topic), cells.words(name)) as (fault, _):
        node = cells.hit(fault.target.partition("→")[0])
        assert serves(cells.stage.bootstrap("producer", node))
        cells.do_without(node)
    cells.whole()


def test_a_broker_between_two_that_do_not_see_each_other(cells: Cells) -> None:
    with at_work(context(cells.stage, cells.topic), cells.words("chain")) as (fault, _):
        one, middle, other = fault.target.split(" – ")
        assert cells.hit(middle) == middle
        cut = {str(Link(one, other)), str(Link(other, one))}
        for link in cells.stage.links():
            if {link.source, link.target} <= {one, middle, other}:
                assert refuses(cells.stage.entrance(link)) is (str(link) in cut)
    cells.whole()


def test_a_broker_that_no_client_reaches(cells: Cells) -> None:
    stage = cells.stage
    with (
        cells.in_use("pipeline"),
        at_work(context(stage, cells.topic), cells.words("cut-clients")) as (fault, _),
    ):
        node = cells.hit(fault.target)
        for audience in AUDIENCES:
            for each in stage.brokers:
                assert refuses(stage.bootstrap(audience, each)) is (each == node)
        assert whole_everywhere(stage, cells.topic)
    cells.whole()


def test_a_broker_whose_link_flaps(cells: Cells) -> None:
    stage = cells.stage
    with (
        cells.in_use("pipeline"),
        at_work(context(stage, cells.topic), cells.words("flap")) as (fault, proof),
    ):
        node = cells.hit(fault.target)
        assert proof.count(f"connections on pipeline→{node} closed") == 5
        assert refuses(stage.bootstrap("pipeline", node))
        assert serves(stage.bootstrap("producer", node))
    cells.whole()


@pytest.fixture
def world(cells: Cells, tmp_path: Path) -> Iterator[RunContext]:
    """With somebody who sends to every partition, so to every broker."""
    workload = Payments(records=5_000, producers=1, partitions=3, topic=cells.topic, rate=200)
    run = Sending(cells.staging, tmp_path, workload)
    run.producers.start()
    run.producers.pace.warmed_up()
    eventually(lambda: run.producers.acknowledged > 50, "the first records")
    recorder: Any = SimpleNamespace(history=SimpleNamespace(write_all=lambda *_: None))
    yield replace(
        context(cells.stage, cells.topic), producers=run.producers, recorder=recorder, stop=run.stop
    )
    run.producers.enough()
    try:
        run.producers.wait_finished(60)
        assert {row["outcome"] for row in run.sends()} == {"ok"}, "all got through in the end"
    finally:
        run.stop.set("the test is over")
        run.processes.kill_all("the test is over")


class Once:
    """A client that never sends a record again: it hears of it, or does not."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self._producer = Producer({
            "bootstrap.servers": cells.stage.bootstrap("producer"), "log_level": 0,
            "retries": 0, "socket.timeout.ms": 2000, "message.timeout.ms": 10_000,
        })  # fmt: skip

    def heard(self, partition: int, value: bytes) -> bool:
        """Send a record; whether it was acknowledged."""
        outcomes: list[object] = []
        self._producer.produce(
            self._cells.topic, value, partition=partition,
            on_delivery=lambda error, _: outcomes.append(error),
        )  # fmt: skip
        (error,) = eventually(
            lambda: outcomes if self._producer.poll(0.05) is not None else None, "an outcome"
        )
        return error is None

    def count(self, value: bytes) -> int:
        """How often a record is in the log."""
        stage = self._cells.stage
        with open_reader(stage, ClusterView(addresses(stage))) as reader:
            logs = reader.read_topic(self._cells.topic)
        return sum(entry.value == value for log in logs for entry in log.entries)


@pytest.mark.parametrize("name", ["lose-responses", "unanswered"])
def test_a_broker_that_does_and_does_not_say(cells: Cells, world: RunContext, name: str) -> None:
    stage, client = cells.stage, Once(cells)
    assert all(client.heard(partition, b"before") for partition in range(3))
    with at_work(world, cells.words(name)) as (fault, _):
        node = cells.hit(fault.target)
        for partition, told in told_by(stage, node, cells.topic).items():
            leads = told.leader == int(node[-1])
            assert client.heard(partition, b"%d" % partition) is not leads
            assert client.count(b"%d" % partition) == 1
        assert serves(stage.bootstrap("pipeline", node))
    assert all(client.heard(partition, b"after") for partition in range(3))
    cells.whole()


def test_every_fault_of_a_broker_is_here() -> None:
    """Whatever can be aimed at a broker is tried here, or as a fault of a link."""
    aimed = {name for name, entry in by_hand().items() if cell(entry, "broker-2")}
    assert aimed == {*LINKS, "kill", "stop", "pause", "isolate", "one-way", "chain",
                     "cut-clients", "flap", "lose-responses", "unanswered"}  # fmt: skip

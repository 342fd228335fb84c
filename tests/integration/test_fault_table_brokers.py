"""Every fault of a whole broker on every role.

Each cell takes seconds, so only `make test-faults` runs this table; `make test` covers each fault
on one role elsewhere. The tests determine the holder of a role without the product's resolution,
and observe the broker with minimal clients on both sides.
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
from tests.integration.faults import active_fault, context
from tests.integration.staging import (
    Staged,
    Talk,
    TopicPartitionState,
    eventually,
    refuses,
    serves,
    told_by,
    whole_everywhere,
)
from tests.integration.test_fault_partitions import connected
from tests.integration.test_fault_table import ARGUMENTS as LINK_FAULTS
from tests.integration.test_fault_targets import keeping_partition, leader
from tests.integration.test_stage_brokers import is_acknowledged
from tests.integration.test_stage_producers import Sending

pytestmark = pytest.mark.integration

BROKER_ROLES = [role for role in ROLES.values() if role != "postgres"]


def candidates_for(staging: Staged, role: str, partition: str) -> set[str]:
    """Brokers that can hold a role once it was resolved, determined from metadata and logs."""
    stage, topic = staging.stage, partition.rpartition("-")[0]
    if role.startswith("coordinator:"):
        return {leader(staging, *keeping_partition(staging, role))}
    if role == "controller":
        return {f"broker-{view.controller()}" for view in context(stage).views().values()}
    if role.startswith("follower:"):
        return set(stage.brokers) - {leader(staging, topic, 0)}
    if role.endswith("/not/controller"):
        return set(stage.brokers) - candidates_for(staging, "controller", partition)
    return {leader(staging, topic, 0)} if role.startswith("leader:") else {role}


class Cells:
    """One role as the target of all faults."""

    def __init__(self, staging: Staged, role: str, topic: str) -> None:
        self.staging, self.stage, self.topic = staging, staging.stage, topic
        self._role = role
        self._partition = f"{topic}-0"
        self.candidates = candidates_for(staging, role, self._partition)

    def command(self, name: str) -> str:
        """The command of a fault that targets the role."""
        aimed = cell(by_hand()[name], self._role.replace("payments-0", self._partition))
        assert aimed is not None
        return " ".join([name, *aimed])

    def broker_in(self, target: str) -> str:
        """The broker named in a target, which must be a candidate for the role."""
        node = next(node for node in self.stage.brokers if node in target)
        assert node in self.candidates
        return node

    def others(self, node: str) -> list[str]:
        return [other for other in self.stage.brokers if other != node]

    @contextmanager
    def in_use(self, audience: str) -> Iterator[None]:
        """Keep clients of an audience connected to every candidate."""
        with ExitStack() as clients:
            for node in self.candidates:
                clients.enter_context(connected(self.staging, Link(audience, node)))
            yield

    def wait_until_excluded(self, node: str) -> None:
        """Wait until `node` leads nothing and is in no in-sync set, then send records."""

        def is_excluded() -> bool:
            return all(
                int(node[-1]) not in {state.leader, *state.in_sync}
                for other in self.others(node)
                for state in self._states(other)
            )

        eventually(is_excluded, f"the others to do without {node}")
        reachable = ",".join(self.stage.bootstrap(AUDITOR, other) for other in self.others(node))
        assert all(is_acknowledged(reachable, self.topic, partition) for partition in range(3))

    def _states(self, node: str) -> list[TopicPartitionState]:
        states = told_by(self.stage, node, self.topic)
        assert len(states) == 3
        return list(states.values())

    def assert_whole(self) -> None:
        """Assert that all links work, every replica is in sync and records are acknowledged."""
        assert all(
            serves(self.stage.bootstrap(a, n)) for a in AUDIENCES for n in self.stage.brokers
        )
        eventually(lambda: whole_everywhere(self.stage, self.topic), "every replica in sync")
        assert all(is_acknowledged(self.stage.bootstrap(AUDITOR), self.topic, n) for n in range(3))
        assert self.stage.disturbed() == {}


@pytest.fixture(params=[pytest.param(role, marks=LATER) for role in BROKER_ROLES])
def cells(request: pytest.FixtureRequest, staging: Staged, topic: Callable[..., str]) -> Cells:
    return Cells(staging, request.param, topic(3))


@pytest.mark.parametrize("name", ["kill", "stop"])
def test_ended_broker_refuses_connections(cells: Cells, name: str) -> None:
    with active_fault(context(cells.stage, cells.topic), cells.command(name)) as (fault, _):
        node = cells.broker_in(fault.target)
        assert all(refuses(cells.stage.bootstrap(who, node)) for who in (*AUDIENCES, AUDITOR))
        cells.wait_until_excluded(node)
    cells.assert_whole()


def test_paused_broker_answers_after_resume(cells: Cells) -> None:
    clients = {node: Talk(cells.stage.bootstrap("producer", node)) for node in cells.stage.brokers}
    try:
        with active_fault(context(cells.stage, cells.topic), cells.command("pause")) as (fault, _):
            node = cells.broker_in(fault.target)
            for client in clients.values():
                client.ask()
            assert all(clients[other].answered() for other in cells.others(node))
            assert not clients[node].answered(1)
            cells.wait_until_excluded(node)
        assert clients[node].answered(), "what it was asked meanwhile it answers now"
    finally:
        for client in clients.values():
            client.socket.close()
    cells.assert_whole()


@pytest.mark.parametrize("name", ["isolate", "one-way"])
def test_isolated_broker_serves_clients_and_is_excluded(cells: Cells, name: str) -> None:
    with active_fault(context(cells.stage, cells.topic), cells.command(name)) as (fault, _):
        node = cells.broker_in(fault.target.partition("→")[0])
        assert serves(cells.stage.bootstrap("producer", node))
        cells.wait_until_excluded(node)
    cells.assert_whole()


def test_chain_cuts_only_links_between_outer_brokers(cells: Cells) -> None:
    with active_fault(context(cells.stage, cells.topic), cells.command("chain")) as (fault, _):
        one, middle, other = fault.target.split(" – ")
        assert cells.broker_in(middle) == middle
        cut = {str(Link(one, other)), str(Link(other, one))}
        for link in cells.stage.links():
            if {link.source, link.target} <= {one, middle, other}:
                assert refuses(cells.stage.entrance(link)) is (str(link) in cut)
    cells.assert_whole()


def test_cut_clients_refuses_clients_of_its_broker_only(cells: Cells) -> None:
    stage = cells.stage
    with (
        cells.in_use("pipeline"),
        active_fault(context(stage, cells.topic), cells.command("cut-clients")) as (fault, _),
    ):
        node = cells.broker_in(fault.target)
        for audience in AUDIENCES:
            for each in stage.brokers:
                assert refuses(stage.bootstrap(audience, each)) is (each == node)
        assert whole_everywhere(stage, cells.topic)
    cells.assert_whole()


def test_flap_cuts_link_of_its_audience_only(cells: Cells) -> None:
    stage = cells.stage
    with (
        cells.in_use("pipeline"),
        active_fault(context(stage, cells.topic), cells.command("flap")) as (fault, proof),
    ):
        node = cells.broker_in(fault.target)
        assert proof.count(f"connections on pipeline→{node} closed") == 5
        assert refuses(stage.bootstrap("pipeline", node))
        assert serves(stage.bootstrap("producer", node))
    cells.assert_whole()


@pytest.fixture
def world(cells: Cells, tmp_path: Path) -> Iterator[RunContext]:
    """A run context with a producer that sends to every partition, and so to every broker."""
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


class NonRetryingClient:
    """A producer without retries."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self._producer = Producer({
            "bootstrap.servers": cells.stage.bootstrap("producer"), "log_level": 0,
            "retries": 0, "socket.timeout.ms": 2000, "message.timeout.ms": 10_000,
        })  # fmt: skip

    def acknowledged(self, partition: int, value: bytes) -> bool:
        """Send a record; whether it is acknowledged."""
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
        """The number of records with a value in the log."""
        stage = self._cells.stage
        with open_reader(stage, ClusterView(addresses(stage))) as reader:
            logs = reader.read_topic(self._cells.topic)
        return sum(entry.value == value for log in logs for entry in log.entries)


@pytest.mark.parametrize("name", ["lose-responses", "unanswered"])
def test_unacknowledged_records_are_in_the_log(cells: Cells, world: RunContext, name: str) -> None:
    stage, client = cells.stage, NonRetryingClient(cells)
    assert all(client.acknowledged(partition, b"before") for partition in range(3))
    with active_fault(world, cells.command(name)) as (fault, _):
        node = cells.broker_in(fault.target)
        for partition, state in told_by(stage, node, cells.topic).items():
            is_leader = state.leader == int(node[-1])
            assert client.acknowledged(partition, b"%d" % partition) is not is_leader
            assert client.count(b"%d" % partition) == 1
        assert serves(stage.bootstrap("pipeline", node))
    assert all(client.acknowledged(partition, b"after") for partition in range(3))
    cells.assert_whole()


def test_table_covers_every_broker_fault() -> None:
    """Faults of links are in `test_fault_table.py`."""
    aimed = {name for name, entry in by_hand().items() if cell(entry, "broker-2")}
    assert aimed == {*LINK_FAULTS, "kill", "stop", "pause", "isolate", "one-way", "chain",
                     "cut-clients", "flap", "lose-responses", "unanswered"}  # fmt: skip

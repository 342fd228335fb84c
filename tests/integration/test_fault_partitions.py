"""Network partitions, seen by brokers and clients on each side."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

import pytest

from onceproof.harness.faults.by_hand import asked
from onceproof.harness.links.topology import AUDIENCES, AUDITOR, Link
from onceproof.harness.processes.trouble import StageTrouble
from tests.integration.faults import active_fault, context
from tests.integration.staging import (
    Staged,
    Talk,
    eventually,
    metadata,
    refuses,
    serves,
    told_by,
    whole_everywhere,
)
from tests.integration.test_stage_brokers import is_acknowledged

pytestmark = pytest.mark.integration


@contextlib.contextmanager
def connected(staging: Staged, link: Link) -> Iterator[None]:
    """Keep a client connected on a link; it reconnects whenever its connection ends."""
    address = staging.stage.entrance(link)
    over = threading.Event()

    def use() -> None:
        while not over.wait(0.05):
            with contextlib.suppress(OSError), Talk(address) as talk:
                talk.ask()
                while talk.answered() and not over.is_set() and not talk.closed(0.1):
                    talk.ask()

    thread = threading.Thread(target=use)
    thread.start()
    try:
        eventually(lambda: staging.stage.connections(link), "the connection")
        yield
    finally:
        over.set()
        thread.join()


def assert_in_sync(staging: Staged, topic: str) -> None:
    eventually(lambda: whole_everywhere(staging.stage, topic), "every replica in sync")
    assert staging.stage.disturbed() == {}


def is_excluded(staging: Staged, node: str, topic: str) -> bool:
    """Whether, for the other brokers, `node` leads no partition and is in no in-sync set."""
    return all(
        int(node[-1]) not in {state.leader, *state.in_sync}
        for other in staging.stage.brokers
        if other != node
        for state in told_by(staging.stage, other, topic).values()
    )


def test_chain_cuts_links_between_outer_brokers(staging: Staged, topic: Callable[..., str]) -> None:
    stage, name = staging.stage, topic(3)
    with active_fault(context(staging.stage), "chain broker-2") as (fault, proof):
        assert fault.target == "broker-1 – broker-2 – broker-3"
        assert "connections on 2 links closed" in proof
        links = {link for link in stage.links() if str(link) in stage.disturbed()}
        assert {str(link) for link in links} == {"broker-1→broker-3", "broker-3→broker-1"}
        assert all(refuses(stage.entrance(link)) for link in links)
        led = [p for p, state in told_by(stage, "broker-2", name).items() if state.leader == 2]
        assert is_acknowledged(stage.bootstrap("producer", "broker-2"), name, led[0])
    assert_in_sync(staging, name)


@pytest.mark.parametrize("cut_broker", ["broker-2", "all"])
def test_cut_clients_keeps_replicas_in_sync(
    staging: Staged, topic: Callable[..., str], cut_broker: str
) -> None:
    stage, name = staging.stage, topic(3)
    cut = stage.brokers if cut_broker == "all" else ("broker-2",)
    with (
        connected(staging, Link("pipeline", "broker-2")),
        active_fault(context(staging.stage), f"cut-clients {cut_broker}"),
    ):
        for audience in AUDIENCES:
            for node in stage.brokers:
                assert refuses(stage.bootstrap(audience, node)) is (node in cut)
        assert whole_everywhere(stage, name)
        assert is_acknowledged(stage.bootstrap(AUDITOR), name, 0)
    assert all(serves(stage.bootstrap(a, n)) for a in AUDIENCES for n in stage.brokers)
    assert_in_sync(staging, name)


def test_split_separates_brokers_and_clients(staging: Staged, topic: Callable[..., str]) -> None:
    stage, name = staging.stage, topic(3)
    command = "split broker-1,producer broker-2,broker-3,pipeline"
    with active_fault(context(staging.stage), command) as (fault, proof):
        assert fault.target == "broker-1, producer | broker-2, broker-3, pipeline"
        assert "the other side removed broker-1 from every in-sync set" in proof
        assert is_excluded(staging, "broker-1", name)
        reached = {a: [n for n in stage.brokers if not refuses(stage.bootstrap(a, n))]
                   for a in AUDIENCES}  # fmt: skip
        assert reached == {
            "producer": ["broker-1"],
            "pipeline": ["broker-2", "broker-3"],
            "pipeline-sink": list(stage.brokers),
        }
        assert metadata(stage.bootstrap("producer", "broker-1")).topics[name][0].in_sync
    assert_in_sync(staging, name)


@pytest.mark.parametrize(("lost", "arrow"), [("out", "→"), ("in", "←")])
def test_one_way_excludes_leader_that_clients_still_reach(
    staging: Staged, topic: Callable[..., str], lost: str, arrow: str
) -> None:
    name = topic(3)
    with active_fault(context(staging.stage, name), f"one-way leader:{name}-0 {lost}") as (
        fault,
        proof,
    ):
        node = fault.target.partition(arrow)[0]
        assert "was not answered" in proof
        # Not isolated: clients still reach it.
        assert serves(staging.stage.bootstrap("producer", node))
        eventually(lambda: is_excluded(staging, node, name), f"the others to do without {node}")
    assert_in_sync(staging, name)


def test_flap_closes_connections_repeatedly(staging: Staged) -> None:
    address = staging.stage.bootstrap("producer", "broker-3")
    with connected(staging, Link("producer", "broker-3")):
        with active_fault(context(staging.stage), "flap producer broker-3 3") as (_, proof):
            assert proof.count("connections on producer→broker-3 closed") == 3
            assert refuses(address)
        eventually(lambda: serves(address), "an answer")
    assert staging.stage.disturbed() == {}


def test_unknown_parties_are_refused(staging: Staged) -> None:
    with pytest.raises(StageTrouble, match="unknown party broker-9: expected broker-1, "):
        asked("split", ["broker-1", "broker-9"]).inject(context(staging.stage), "split")
    assert staging.stage.disturbed() == {}

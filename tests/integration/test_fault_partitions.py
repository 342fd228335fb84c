"""Partitions as sets of links: what each side says, and what clients on either side can do."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

import pytest

from onceproof.harness.faults.by_hand import asked
from onceproof.harness.links.topology import AUDIENCES, AUDITOR, Link
from onceproof.harness.processes.trouble import StageTrouble
from tests.integration.faults import at_work, context
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
from tests.integration.test_stage_brokers import sent

pytestmark = pytest.mark.integration


@contextlib.contextmanager
def using(staging: Staged, link: Link) -> Iterator[None]:
    """Somebody's connection on a link, made again whenever it ends."""
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


def whole(staging: Staged, topic: str) -> None:
    eventually(lambda: whole_everywhere(staging.stage, topic), "every replica in sync")
    assert staging.stage.disturbed() == {}


def out(staging: Staged, node: str, topic: str) -> bool:
    """Whether the others say that a broker leads nothing and is in sync with nobody."""
    return all(
        int(node[-1]) not in {told.leader, *told.in_sync}
        for other in staging.stage.brokers
        if other != node
        for told in told_by(staging.stage, other, topic).values()
    )


def test_two_brokers_that_see_only_the_third(staging: Staged, topic: Callable[..., str]) -> None:
    stage, name = staging.stage, topic(3)
    with at_work(context(staging.stage), "chain broker-2") as (fault, proof):
        assert fault.target == "broker-1 – broker-2 – broker-3"
        assert "connections on 2 links closed" in proof
        links = {link for link in stage.links() if str(link) in stage.disturbed()}
        assert {str(link) for link in links} == {"broker-1→broker-3", "broker-3→broker-1"}
        assert all(refuses(stage.entrance(link)) for link in links)
        led = [p for p, told in told_by(stage, "broker-2", name).items() if told.leader == 2]
        assert sent(stage.bootstrap("producer", "broker-2"), name, led[0])
    whole(staging, name)


@pytest.mark.parametrize("whom", ["broker-2", "all"])
def test_clients_that_reach_no_broker(
    staging: Staged, topic: Callable[..., str], whom: str
) -> None:
    stage, name = staging.stage, topic(3)
    cut = stage.brokers if whom == "all" else ("broker-2",)
    with (
        using(staging, Link("pipeline", "broker-2")),
        at_work(context(staging.stage), f"cut-clients {whom}"),
    ):
        for audience in AUDIENCES:
            for node in stage.brokers:
                assert refuses(stage.bootstrap(audience, node)) is (node in cut)
        assert whole_everywhere(stage, name)
        assert sent(stage.bootstrap(AUDITOR), name, 0)
    assert all(serves(stage.bootstrap(a, n)) for a in AUDIENCES for n in stage.brokers)
    whole(staging, name)


def test_two_sides_with_clients(staging: Staged, topic: Callable[..., str]) -> None:
    stage, name = staging.stage, topic(3)
    words = "split broker-1,producer broker-2,broker-3,pipeline"
    with at_work(context(staging.stage), words) as (fault, proof):
        assert fault.target == "broker-1, producer | broker-2, broker-3, pipeline"
        assert "the other side removed broker-1 from every in-sync set" in proof
        assert out(staging, "broker-1", name)
        reached = {a: [n for n in stage.brokers if not refuses(stage.bootstrap(a, n))]
                   for a in AUDIENCES}  # fmt: skip
        assert reached == {
            "producer": ["broker-1"],
            "pipeline": ["broker-2", "broker-3"],
            "pipeline-sink": list(stage.brokers),
        }
        assert metadata(stage.bootstrap("producer", "broker-1")).topics[name][0].in_sync
    whole(staging, name)


@pytest.mark.parametrize(("lost", "arrow"), [("out", "→"), ("in", "←")])
def test_a_broker_that_is_not_heard_or_does_not_hear_is_left_out(
    staging: Staged, topic: Callable[..., str], lost: str, arrow: str
) -> None:
    name = topic(3)
    with at_work(context(staging.stage, name), f"one-way leader:{name}-0 {lost}") as (fault, proof):
        node = fault.target.partition(arrow)[0]
        assert "was not answered" in proof
        # It is not cut off: its connections stay, and clients reach it.
        assert serves(staging.stage.bootstrap("producer", node))
        eventually(lambda: out(staging, node, name), f"the others to do without {node}")
    whole(staging, name)


def test_a_link_that_flaps(staging: Staged) -> None:
    way = staging.stage.bootstrap("producer", "broker-3")
    with using(staging, Link("producer", "broker-3")):
        with at_work(context(staging.stage), "flap producer broker-3 3") as (_, proof):
            assert proof.count("connections on producer→broker-3 closed") == 3
            assert refuses(way)
        eventually(lambda: serves(way), "an answer")
    assert staging.stage.disturbed() == {}


def test_parties_that_there_are_not(staging: Staged) -> None:
    with pytest.raises(StageTrouble, match="unknown party broker-9: expected broker-1, "):
        asked("split", ["broker-1", "broker-9"]).inject(context(staging.stage), "split")
    assert staging.stage.disturbed() == {}

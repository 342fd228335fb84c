"""Killing and isolating a broker under topics of anybody, on a cluster that is made up."""

from __future__ import annotations

from typing import Any

import pytest

from onceproof.harness.faults.cluster.rejoin import wait_back
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.links.isolate_broker import IsolateBroker
from onceproof.harness.faults.targets.brokers import LeaderOf, Node
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.wait import Overdue
from tests.unit.fakes.run_context import FakeContext
from tests.unit.fakes.stage import Said


@pytest.fixture
def world() -> FakeContext:
    return FakeContext()


def killed(world: FakeContext) -> Any:
    return Kill(Node(name="broker-2")).inject(world, "kill-1")


def isolated(world: FakeContext) -> Any:
    return IsolateBroker(target=Node(name="broker-2")).inject(world, "isolate-1")


def test_a_leader_of_any_topic_is_found(world: FakeContext) -> None:
    assert LeaderOf(topic="orders", partition=1).resolve(world) == "broker-1"
    assert LeaderOf(partition=0).resolve(world) == "broker-2"


@pytest.mark.parametrize(
    ("topic", "partition", "instead"),
    [
        ("order", 0, r"no such partition; there are orders \[0, 1, 2\], payments \[0\]"),
        ("orders", 3, r"no such partition; there are orders \[0, 1, 2\], payments \[0\]"),
        ("payments", 0, "payments-0: leader -1"),
    ],
)
def test_a_leader_that_is_not_found(
    world: FakeContext, topic: str, partition: int, instead: str
) -> None:
    world.stage.said[("payments", 0)] = (-1, {2})
    with pytest.raises(Overdue, match=f"{topic}-{partition} to have a leader; .*{instead}"):
        LeaderOf(topic=topic, partition=partition).resolve(world)


@pytest.mark.parametrize("begin", [killed, isolated])
def test_what_it_leads_is_told_of_every_topic_that_clients_made(
    world: FakeContext, begin: Any
) -> None:
    assert begin(world).target == "broker-2 (leads orders [0, 2], payments [0])"


def test_a_killed_leader_is_proven_when_all_topics_have_other_leaders(world: FakeContext) -> None:
    injection = killed(world)
    world.stage.said[("payments", 0)] = (3, {1, 3})
    world.stage.said[("orders", 0)] = (1, {1, 3})
    assert injection.evidence() is None
    world.stage.said[("orders", 2)] = (3, {1, 3})
    assert injection.evidence().endswith(
        "s: orders-0 to broker-1, orders-2 to broker-3, payments-0 to broker-3"
    )


def test_what_only_the_killed_one_had_goes_to_nobody(world: FakeContext) -> None:
    world.stage.said = {("orders", 0): (2, {2})}
    injection = killed(world)
    assert injection.evidence() is None
    world.stage.said = {("orders", 0): (-1, {2})}
    assert injection.evidence().endswith("s: orders-0 to nobody")


def test_of_a_killed_one_that_led_nothing_no_leadership_moved(world: FakeContext) -> None:
    world.stage.said = {("orders", 1): (1, {1, 2, 3})}
    assert killed(world).evidence() == "broker-2#1 ended by signal 9; it led no partition"


@pytest.mark.parametrize("begin", [killed, isolated])
def test_silence_proves_nothing(world: FakeContext, begin: Any) -> None:
    injection = begin(world)
    world.stage.said = {}
    assert injection.evidence() is None


def test_an_isolated_one_is_proven_when_it_is_out_of_every_topic(world: FakeContext) -> None:
    injection = isolated(world)
    world.stage.said |= {("payments", 0): (3, {1, 3}), ("orders", 0): (1, {1, 3})}
    world.stage.said |= {("orders", 1): (1, {1, 3})}
    assert injection.evidence() is None
    world.stage.said[("orders", 2)] = (1, {1, 2, 3})
    assert injection.evidence() is None
    world.stage.said[("orders", 2)] = (1, {1, 3})
    assert injection.evidence().endswith("moved the leadership of orders [0, 2], payments [0]")


def test_the_last_member_of_an_in_sync_set_stays_in_it(world: FakeContext) -> None:
    injection = isolated(world)
    world.stage.said = {("payments", 0): (3, {1, 3}), ("mine", 0): (2, {2})}
    assert injection.evidence() is None
    world.stage.said[("mine", 0)] = (-1, {2})
    assert injection.evidence() is not None


def test_links_that_could_not_all_be_cut_are_mended(world: FakeContext) -> None:
    world.stage.refuses = Link("broker-3", "broker-2")
    with pytest.raises(StageTrouble):
        isolated(world)
    assert world.stage.cut == set()


def test_a_broker_that_came_up_half_way_begins_anew(world: FakeContext) -> None:
    world.stage.half_way = 1
    injection = killed(world)
    with pytest.raises(StageTrouble):
        injection.heal()
    injection.heal()
    injection.heal()
    assert world.stage.story == [
        "kill: SIGKILL by fault «kill-1»",
        "restart",
        "kill: did not finish its restart",
        "restart",
    ]


CAUGHT_UP: Said = {("orders", 0): (2, {1, 2}), ("orders", 1): (1, {1, 2})}
LAGS: Said = {("orders", 0): (1, {1}), ("orders", 1): (1, {1, 2})}
LEADERLESS: Said = {("orders", 0): (-1, {2}), ("orders", 1): (1, {1, 2})}


@pytest.mark.parametrize(
    ("said_by", "back"),
    [
        ({1: CAUGHT_UP, 2: CAUGHT_UP, 3: CAUGHT_UP}, True),
        ({1: CAUGHT_UP, 2: CAUGHT_UP, 3: LAGS}, True),  # 3 is cut off by a fault of its own
        ({1: CAUGHT_UP, 2: CAUGHT_UP, 3: {}}, True),  # 3 is dead
        ({1: LAGS, 2: CAUGHT_UP, 3: LAGS}, False),  # 2 believes what it last knew
        ({1: CAUGHT_UP, 2: LAGS, 3: CAUGHT_UP}, False),  # 2 does not know yet
        ({1: CAUGHT_UP, 2: {}, 3: CAUGHT_UP}, False),
        ({1: LEADERLESS, 2: LEADERLESS, 3: LEADERLESS}, False),
        ({1: {}, 2: CAUGHT_UP, 3: {}}, False),
    ],
)
def test_a_broker_is_back_when_it_and_most_brokers_say_so(
    world: FakeContext, said_by: dict[int | None, Said], back: bool
) -> None:
    world.stage.said_by = said_by
    if back:
        wait_back(world, "broker-2")
    else:
        with pytest.raises(Overdue, match="broker-2 to be in sync in all its partitions"):
            wait_back(world, "broker-2")

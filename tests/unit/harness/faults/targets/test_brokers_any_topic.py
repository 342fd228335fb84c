"""Killing and isolating a broker in a cluster with any topics."""

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
def context() -> FakeContext:
    return FakeContext()


def inject_kill(context: FakeContext) -> Any:
    return Kill(Node(name="broker-2")).inject(context, "kill-1")


def inject_isolation(context: FakeContext) -> Any:
    return IsolateBroker(target=Node(name="broker-2")).inject(context, "isolate-1")


def test_resolves_the_leader_of_any_topic(context: FakeContext) -> None:
    assert LeaderOf(topic="orders", partition=1).resolve(context) == "broker-1"
    assert LeaderOf(partition=0).resolve(context) == "broker-2"


@pytest.mark.parametrize(
    ("topic", "partition", "seen"),
    [
        ("order", 0, r"no such partition; there are orders \[0, 1, 2\], payments \[0\]"),
        ("orders", 3, r"no such partition; there are orders \[0, 1, 2\], payments \[0\]"),
        ("payments", 0, "payments-0: leader -1"),
    ],
)
def test_resolve_fails_without_a_leader(
    context: FakeContext, topic: str, partition: int, seen: str
) -> None:
    context.stage.said[("payments", 0)] = (-1, {2})
    with pytest.raises(Overdue, match=f"{topic}-{partition} to have a leader; .*{seen}"):
        LeaderOf(topic=topic, partition=partition).resolve(context)


@pytest.mark.parametrize("inject", [inject_kill, inject_isolation])
def test_target_names_the_led_partitions_of_all_client_topics(
    context: FakeContext, inject: Any
) -> None:
    assert inject(context).target == "broker-2 (leads orders [0, 2], payments [0])"


def test_kill_takes_effect_once_all_partitions_have_new_leaders(context: FakeContext) -> None:
    injection = inject_kill(context)
    context.stage.said[("payments", 0)] = (3, {1, 3})
    context.stage.said[("orders", 0)] = (1, {1, 3})
    assert injection.evidence() is None
    context.stage.said[("orders", 2)] = (3, {1, 3})
    assert injection.evidence().endswith(
        "s: orders-0 to broker-1, orders-2 to broker-3, payments-0 to broker-3"
    )


def test_kill_leaves_partitions_without_other_replicas_leaderless(context: FakeContext) -> None:
    context.stage.said = {("orders", 0): (2, {2})}
    injection = inject_kill(context)
    assert injection.evidence() is None
    context.stage.said = {("orders", 0): (-1, {2})}
    assert injection.evidence().endswith("s: orders-0 to nobody")


def test_kill_of_a_broker_that_led_nothing_takes_effect(context: FakeContext) -> None:
    context.stage.said = {("orders", 1): (1, {1, 2, 3})}
    assert inject_kill(context).evidence() == "broker-2#1 ended by signal 9; it led no partition"


@pytest.mark.parametrize("inject", [inject_kill, inject_isolation])
def test_no_evidence_without_metadata(context: FakeContext, inject: Any) -> None:
    injection = inject(context)
    context.stage.said = {}
    assert injection.evidence() is None


def test_isolation_takes_effect_once_the_broker_left_every_in_sync_set(
    context: FakeContext,
) -> None:
    injection = inject_isolation(context)
    context.stage.said |= {("payments", 0): (3, {1, 3}), ("orders", 0): (1, {1, 3})}
    context.stage.said |= {("orders", 1): (1, {1, 3})}
    assert injection.evidence() is None
    context.stage.said[("orders", 2)] = (1, {1, 2, 3})
    assert injection.evidence() is None
    context.stage.said[("orders", 2)] = (1, {1, 3})
    assert injection.evidence().endswith("moved the leadership of orders [0, 2], payments [0]")


def test_isolated_last_replica_only_loses_leadership(context: FakeContext) -> None:
    injection = inject_isolation(context)
    context.stage.said = {("payments", 0): (3, {1, 3}), ("mine", 0): (2, {2})}
    assert injection.evidence() is None
    context.stage.said[("mine", 0)] = (-1, {2})
    assert injection.evidence() is not None


def test_failed_isolation_restores_all_links(context: FakeContext) -> None:
    context.stage.refuses = Link("broker-3", "broker-2")
    with pytest.raises(StageTrouble):
        inject_isolation(context)
    assert context.stage.cut == set()


def test_heal_restarts_a_broker_whose_restart_failed(context: FakeContext) -> None:
    context.stage.half_way = 1
    injection = inject_kill(context)
    with pytest.raises(StageTrouble):
        injection.heal()
    injection.heal()
    injection.heal()
    assert context.stage.story == [
        "kill: SIGKILL by fault «kill-1»",
        "restart",
        "kill: did not finish its restart",
        "restart",
    ]


CAUGHT_UP: Said = {("orders", 0): (2, {1, 2}), ("orders", 1): (1, {1, 2})}
LAGS: Said = {("orders", 0): (1, {1}), ("orders", 1): (1, {1, 2})}
LEADERLESS: Said = {("orders", 0): (-1, {2}), ("orders", 1): (1, {1, 2})}


@pytest.mark.parametrize(
    ("metadata_by_broker", "back"),
    [
        ({1: CAUGHT_UP, 2: CAUGHT_UP, 3: CAUGHT_UP}, True),
        ({1: CAUGHT_UP, 2: CAUGHT_UP, 3: LAGS}, True),  # another fault cuts 3 off
        ({1: CAUGHT_UP, 2: CAUGHT_UP, 3: {}}, True),  # 3 is dead
        ({1: LAGS, 2: CAUGHT_UP, 3: LAGS}, False),  # 2 has stale metadata
        ({1: CAUGHT_UP, 2: LAGS, 3: CAUGHT_UP}, False),  # 2 does not know yet
        ({1: CAUGHT_UP, 2: {}, 3: CAUGHT_UP}, False),
        ({1: LEADERLESS, 2: LEADERLESS, 3: LEADERLESS}, False),
        ({1: {}, 2: CAUGHT_UP, 3: {}}, False),
    ],
)
def test_broker_is_back_once_it_and_a_majority_agree(
    context: FakeContext, metadata_by_broker: dict[int | None, Said], back: bool
) -> None:
    context.stage.said_by = metadata_by_broker
    if back:
        wait_back(context, "broker-2")
    else:
        with pytest.raises(Overdue, match="broker-2 to be in sync in all its partitions"):
            wait_back(context, "broker-2")

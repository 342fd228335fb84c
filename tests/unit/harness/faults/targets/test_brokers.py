"""Faults that are proven by the others' word, on a cluster that is made up."""

from __future__ import annotations

from typing import Any

import pytest

from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.stop import Stop
from onceproof.harness.faults.targets.brokers import Node
from onceproof.harness.processes.trouble import StageTrouble
from tests.unit.harness.faults.made_up_cluster import BEFORE, Said, View, World

NODE = Node(name="broker-2")
MOVED: Said = {key: (1, {1, 3}) for key in BEFORE}
LEFT_ONLY: Said = {key: (1, in_sync) for key, (_, in_sync) in BEFORE.items()}


@pytest.fixture
def world() -> World:
    return World()


def paused(world: Any) -> Any:
    return Pause(NODE).inject(world, "pause-1")


def stopped(world: Any) -> Any:
    return Stop(NODE).inject(world, "stop-1")


@pytest.mark.parametrize(
    ("said", "without"),
    [
        (MOVED, True),
        (LEFT_ONLY, False),
        (BEFORE, False),
        ({("orders", 0): (2, {1, 3})}, False),
        ({("orders", 0): (-1, {2})}, True),  # the last of a set stays in it
        ({}, False),
    ],
)
def test_doing_without_a_broker(world: World, said: Said, without: bool) -> None:
    world.said = said
    assert View(world).does_without(2) is without


def test_a_pause_bites_when_the_others_do_without(world: World) -> None:
    injection = paused(world)
    assert injection.target == "broker-2 (leads orders [0, 2], payments [0])"
    assert injection.evidence() is None
    world.said = MOVED
    proof = injection.evidence()
    assert proof is not None
    assert proof.startswith("broker-2#1 stands still; the majority took broker-2 out of every in-")
    assert proof.endswith(" and moved the leadership of orders [0, 2], payments [0]")
    world.said = BEFORE
    injection.heal()
    assert world.paused == set()
    assert injection.evidence() == proof


def test_a_pause_that_somebody_ended_proves_nothing_and_heals(world: World) -> None:
    injection = paused(world)
    world.paused.clear()
    world.said = MOVED
    assert injection.evidence() is None
    world.said = BEFORE
    injection.heal()


def test_one_that_led_nothing_is_missed_all_the_same(world: World) -> None:
    world.said = LEFT_ONLY
    injection = paused(world)
    assert injection.evidence() is None
    world.said = MOVED
    proof = injection.evidence()
    assert proof is not None
    assert "out of every in-sync set" in proof
    assert "leadership" not in proof


def test_a_stop_hands_over_before_the_end(world: World) -> None:
    def shut_down(node: str, how: str) -> str:
        world.said = MOVED
        world.dead.add(node)
        return f"{node}#1 ended with status 143"

    world.stage.shut_down = shut_down
    injection = stopped(world)
    proof = injection.evidence()
    assert proof is not None
    assert proof.startswith("broker-2#1 ended with status 143; the majority took broker-2 out of")
    assert proof.endswith(" and moved the leadership of orders [0, 2], payments [0]")
    world.said = BEFORE
    injection.heal()
    assert world.story == ["restart"]


def test_a_stop_that_fails_is_told(world: World) -> None:
    def shut_down(node: str, how: str) -> str:
        world.said = MOVED
        raise StageTrouble("it did not end")

    world.stage.shut_down = shut_down
    with pytest.raises(StageTrouble, match="it did not end"):
        stopped(world)


def test_a_leadership_that_moves_after_the_end_was_not_handed_over(world: World) -> None:
    injection = stopped(world)
    world.said = MOVED
    assert injection.evidence() is None

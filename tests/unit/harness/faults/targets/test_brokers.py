"""Faults that are proven by the others' word, on a cluster that is made up."""

from __future__ import annotations

from typing import Any

import pytest

from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.stop import Stop
from onceproof.harness.faults.targets.brokers import Node
from onceproof.harness.processes.trouble import StageTrouble
from tests.unit.fakes.run_context import FakeContext
from tests.unit.fakes.stage import BEFORE, FakeStage, FakeView, Said

NODE = Node(name="broker-2")
MOVED: Said = {key: (1, {1, 3}) for key in BEFORE}
LEFT_ONLY: Said = {key: (1, in_sync) for key, (_, in_sync) in BEFORE.items()}


@pytest.fixture
def world() -> FakeContext:
    return FakeContext()


def paused(world: FakeContext) -> Any:
    return Pause(NODE).inject(world, "pause-1")


def stopped(world: FakeContext) -> Any:
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
def test_doing_without_a_broker(world: FakeContext, said: Said, without: bool) -> None:
    world.stage.said = said
    assert FakeView(world.stage).does_without(2) is without


def test_a_pause_takes_effect_when_the_others_do_without(world: FakeContext) -> None:
    injection = paused(world)
    assert injection.target == "broker-2 (leads orders [0, 2], payments [0])"
    assert injection.evidence() is None
    world.stage.said = MOVED
    proof = injection.evidence()
    assert proof is not None
    assert proof.startswith("broker-2#1 stands still; the majority removed broker-2 from every in-")
    assert proof.endswith(" and moved the leadership of orders [0, 2], payments [0]")
    world.stage.said = BEFORE
    injection.heal()
    assert world.stage.standing == set()
    assert injection.evidence() == proof


def test_a_pause_that_somebody_ended_proves_nothing_and_heals(world: FakeContext) -> None:
    injection = paused(world)
    world.stage.standing.clear()
    world.stage.said = MOVED
    assert injection.evidence() is None
    world.stage.said = BEFORE
    injection.heal()


def test_one_that_led_nothing_is_missed_all_the_same(world: FakeContext) -> None:
    world.stage.said = LEFT_ONLY
    injection = paused(world)
    assert injection.evidence() is None
    world.stage.said = MOVED
    proof = injection.evidence()
    assert proof is not None
    assert "from every in-sync set" in proof
    assert "leadership" not in proof


def test_a_stop_hands_over_before_the_end() -> None:
    class HandsOver(FakeStage):
        def shut_down(self, node: str, how: str) -> str:
            self.said = MOVED
            return super().shut_down(node, how)

    world = FakeContext(stage=HandsOver())
    injection = stopped(world)
    proof = injection.evidence()
    assert proof is not None
    assert proof.startswith("broker-2#1 ended with status 143; the majority removed broker-2 from")
    assert proof.endswith(" and moved the leadership of orders [0, 2], payments [0]")
    world.stage.said = BEFORE
    injection.heal()
    assert world.stage.story == ["restart"]


def test_a_stop_that_fails_is_told() -> None:
    class Refuses(FakeStage):
        def shut_down(self, node: str, how: str) -> str:
            self.said = MOVED
            raise StageTrouble("it did not end")

    with pytest.raises(StageTrouble, match="it did not end"):
        stopped(FakeContext(stage=Refuses()))


def test_a_leadership_that_moves_after_the_end_was_not_handed_over(world: FakeContext) -> None:
    injection = stopped(world)
    world.stage.said = MOVED
    assert injection.evidence() is None

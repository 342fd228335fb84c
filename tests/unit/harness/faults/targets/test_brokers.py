"""Faults of a broker that are proved by the metadata of the others."""

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
def context() -> FakeContext:
    return FakeContext()


def inject_pause(context: FakeContext) -> Any:
    return Pause(NODE).inject(context, "pause-1")


def inject_stop(context: FakeContext) -> Any:
    return Stop(NODE).inject(context, "stop-1")


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (MOVED, True),
        (LEFT_ONLY, False),
        (BEFORE, False),
        ({("orders", 0): (2, {1, 3})}, False),
        ({("orders", 0): (-1, {2})}, True),  # the last replica stays in the in-sync set
        ({}, False),
    ],
)
def test_does_without_requires_new_leaders_and_in_sync_sets(
    context: FakeContext, metadata: Said, expected: bool
) -> None:
    context.stage.said = metadata
    assert FakeView(context.stage).does_without(2) is expected


def test_pause_takes_effect_once_the_cluster_does_without_the_broker(context: FakeContext) -> None:
    injection = inject_pause(context)
    assert injection.target == "broker-2 (leads orders [0, 2], payments [0])"
    assert injection.evidence() is None
    context.stage.said = MOVED
    proof = injection.evidence()
    assert proof is not None
    assert proof.startswith("broker-2#1 stands still; the majority removed broker-2 from every in-")
    assert proof.endswith(" and moved the leadership of orders [0, 2], payments [0]")
    context.stage.said = BEFORE
    injection.heal()
    assert context.stage.standing == set()
    assert injection.evidence() == proof


def test_pause_that_ended_early_has_no_evidence_and_heals(context: FakeContext) -> None:
    injection = inject_pause(context)
    context.stage.standing.clear()
    context.stage.said = MOVED
    assert injection.evidence() is None
    context.stage.said = BEFORE
    injection.heal()


def test_pause_of_a_broker_that_led_nothing_takes_effect(context: FakeContext) -> None:
    context.stage.said = LEFT_ONLY
    injection = inject_pause(context)
    assert injection.evidence() is None
    context.stage.said = MOVED
    proof = injection.evidence()
    assert proof is not None
    assert "from every in-sync set" in proof
    assert "leadership" not in proof


def test_stop_hands_leadership_over_before_the_exit() -> None:
    class HandsOver(FakeStage):
        def shut_down(self, node: str, how: str) -> str:
            self.said = MOVED
            return super().shut_down(node, how)

    context = FakeContext(stage=HandsOver())
    injection = inject_stop(context)
    proof = injection.evidence()
    assert proof is not None
    assert proof.startswith("broker-2#1 ended with status 143; the majority removed broker-2 from")
    assert proof.endswith(" and moved the leadership of orders [0, 2], payments [0]")
    context.stage.said = BEFORE
    injection.heal()
    assert context.stage.story == ["restart"]


def test_failed_stop_is_reported() -> None:
    class Refuses(FakeStage):
        def shut_down(self, node: str, how: str) -> str:
            self.said = MOVED
            raise StageTrouble("it did not end")

    with pytest.raises(StageTrouble, match="it did not end"):
        inject_stop(FakeContext(stage=Refuses()))


def test_leadership_moved_after_the_exit_is_no_handover(context: FakeContext) -> None:
    injection = inject_stop(context)
    context.stage.said = MOVED
    assert injection.evidence() is None

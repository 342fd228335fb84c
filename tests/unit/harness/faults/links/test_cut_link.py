"""Faults with a made-up run context; what they do to a real stage is in tests/integration."""

from __future__ import annotations

from typing import Any

from onceproof.harness.faults.links.cut_link import CutLink
from onceproof.harness.faults.targets.brokers import Node
from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import Link
from tests.unit.fakes.run_context import FakeContext, FakePipeline
from tests.unit.fakes.stage import FakeStage

LINK = Link("pipeline", "broker-1")


def context(*, connections: int, closes: bool = True) -> Any:
    stage = FakeStage(open={LINK: connections}, closes=closes)
    return FakeContext(stage=stage, pipeline=FakePipeline(commits=3))


def inject(world: Any) -> Any:
    return CutLink(source="pipeline", target=Node(name="broker-1")).inject(world, "cut")


def test_a_link_in_use_is_cut_and_used_again() -> None:
    world = context(connections=2)
    injection = inject(world)
    world.producers.acknowledged, world.pipeline.commits = 150, 5
    assert injection.target == "pipeline→broker-1"
    assert injection.evidence() == (
        "2 connections on pipeline→broker-1 closed, new ones refused; meanwhile 50 records were "
        "acknowledged and 2 commits of the pipeline seen"
    )
    injection.heal()
    assert world.stage.disturbed() == {}


def test_a_link_that_nobody_used_proves_nothing() -> None:
    injection = inject(context(connections=0))
    assert injection.evidence() is None
    injection.heal()


def test_connections_that_stay_prove_nothing() -> None:
    assert inject(context(connections=2, closes=False)).evidence() is None


def test_nothing_is_waited_for_on_a_link_that_another_fault_keeps_cut() -> None:
    world = context(connections=2)
    injection = inject(world)
    world.stage.disturb(LINK, CUT)
    injection.heal()
    assert world.stage.disturbed() == {"pipeline→broker-1": "disabled"}

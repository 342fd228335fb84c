"""Cutting a link of a fake stage; tests/integration cuts one of a real stage."""

from __future__ import annotations

from typing import Any

from onceproof.harness.faults.links.cut_link import CutLink
from onceproof.harness.faults.targets.brokers import Node
from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import Link
from tests.unit.fakes.run_context import FakeContext, FakePipeline
from tests.unit.fakes.stage import FakeStage

LINK = Link("pipeline", "broker-1")


def new_context(*, connections: int, closes: bool = True) -> Any:
    stage = FakeStage(open={LINK: connections}, closes=closes)
    return FakeContext(stage=stage, pipeline=FakePipeline(commits=3))


def inject(context: Any) -> Any:
    return CutLink(source="pipeline", target=Node(name="broker-1")).inject(context, "cut")


def test_cut_closes_connections_and_heal_restores_the_link() -> None:
    context = new_context(connections=2)
    injection = inject(context)
    context.producers.acknowledged, context.pipeline.commits = 150, 5
    assert injection.target == "pipeline→broker-1"
    assert injection.evidence() == (
        "2 connections on pipeline→broker-1 closed, new ones refused; meanwhile 50 records were "
        "acknowledged and 2 commits of the pipeline seen"
    )
    injection.heal()
    assert context.stage.disturbed() == {}


def test_no_evidence_for_an_unused_link() -> None:
    injection = inject(new_context(connections=0))
    assert injection.evidence() is None
    injection.heal()


def test_no_evidence_if_connections_stay_open() -> None:
    assert inject(new_context(connections=2, closes=False)).evidence() is None


def test_heal_does_not_wait_for_a_link_cut_by_another_fault() -> None:
    context = new_context(connections=2)
    injection = inject(context)
    context.stage.disturb(LINK, CUT)
    injection.heal()
    assert context.stage.disturbed() == {"pipeline→broker-1": "disabled"}

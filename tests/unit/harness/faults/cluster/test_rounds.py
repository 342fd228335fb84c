"""Rounds of faults one after another, and several links cut together."""

from __future__ import annotations

from typing import Any

import pytest

from onceproof.harness.faults.cluster.rounds import Rounds
from onceproof.harness.faults.links.cut_links import CutLinksInjection
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.trouble import StageTrouble
from tests.unit.fakes.run_context import FakeContext
from tests.unit.fakes.stage import FakeStage
from tests.unit.harness.made_up import Injected

ONE, OTHER = Link("producer", "broker-1"), Link("producer", "broker-2")


def step(story: list[str], name: str, effective: dict[str, bool]) -> Any:
    def inject() -> Injected:
        story.append(f"inject {name}")
        return Injected(
            name=name,
            target=f"target of {name}",
            at=7,
            evidence=lambda: f"{name} took effect" if effective.get(name, True) else None,
            heal=lambda: story.append(f"heal {name}"),
            story=story,
        )

    return inject


def test_each_fault_is_healed_before_the_next_begins() -> None:
    story: list[str] = []
    effective = {"b": False}
    rounds = Rounds([step(story, name, effective) for name in "abc"])
    assert story == ["inject a"]
    assert rounds.evidence() is None
    assert story == ["inject a", "heal a", "inject b"]
    assert rounds.evidence() is None
    assert story == ["inject a", "heal a", "inject b"]
    effective["b"] = True
    assert rounds.evidence() is None
    assert rounds.evidence() == "a took effect; b took effect; c took effect"
    assert story[-1] == "inject c", "the last one stays"
    assert rounds.target == "target of a, target of b, target of c"
    rounds.heal()
    assert story[-1] == "heal c"


def stage_of(one: int, other: int) -> FakeStage:
    """Two links with this many connections each until they are cut.

    Both count as disturbed already, so that they are not probed.
    """
    unhealthy_links = {str(link): "disabled" for link in (ONE, OTHER)}
    return FakeStage(brokers=(), open={ONE: one, OTHER: other}, unhealthy=unhealthy_links)


def sever(stage: FakeStage, **more: Any) -> CutLinksInjection:
    return CutLinksInjection(FakeContext(stage=stage), [ONE, OTHER], "both", **more)


def test_severed_closes_all_links() -> None:
    stage = stage_of(2, 1)
    injection = sever(stage)
    assert injection.evidence() == "3 connections on 2 links closed; new ones refused"
    injection.heal()
    assert stage.cut == set()


def test_no_evidence_without_closed_connections() -> None:
    assert sever(stage_of(0, 0)).evidence() is None
    stage = stage_of(1, 1)
    injection = sever(stage)
    stage.closes = False
    assert injection.evidence() is None


def test_evidence_waits_for_the_consequence() -> None:
    consequences: list[str | None] = [None]
    injection = sever(stage_of(1, 0), consequence=lambda since: consequences[0])
    assert injection.evidence() is None
    consequences[0] = "it was missed"
    assert injection.evidence() == "1 connections on 2 links closed; it was missed"


def test_failed_cut_restores_all_links() -> None:
    stage = stage_of(1, 1)
    stage.refuses = OTHER
    with pytest.raises(StageTrouble, match="does not answer"):
        sever(stage)
    assert stage.cut == set()

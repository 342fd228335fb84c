"""Faults with a made-up run context; what they do to a real stage is in tests/integration."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.harness.faults.links.cut_link import CutLink
from onceproof.harness.faults.targets.brokers import Node
from onceproof.harness.links.ledger import CUT, Disturbance, Hold
from onceproof.harness.links.topology import Link
from onceproof.harness.wait import Stop

LINK = Link("pipeline", "broker-1")


def context(*, connections: int, held_by_others: bool = False) -> Any:
    """A stage whose link has so many connections until it is cut, and others may hold it too."""
    state = SimpleNamespace(connections=connections, cut=False)

    def mend() -> None:
        if not held_by_others:
            state.connections, state.cut = connections, False

    def disturb(link: Link, how: Disturbance) -> Hold:
        assert how == CUT
        state.connections, state.cut = 0, True
        return Hold(mend)

    stage = SimpleNamespace(
        connections=lambda link: state.connections if link == LINK else 0,
        disturb=disturb,
        disturbed=lambda: {str(LINK): "disabled"} if state.cut else {},
    )
    return SimpleNamespace(
        stage=stage,
        producers=SimpleNamespace(acknowledged=100, total=200),
        pipeline=SimpleNamespace(commits=3, counted="commits of the pipeline", alive=lambda: True),
        stop=Stop(),
    )


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


def test_connections_that_stay_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    world = context(connections=2)
    world.stage.disturb = lambda link, how: Hold(lambda: None)
    assert inject(world).evidence() is None


def test_nothing_is_waited_for_on_a_link_that_another_fault_keeps_cut() -> None:
    world = context(connections=2, held_by_others=True)
    inject(world).heal()
    assert world.stage.disturbed() == {"pipeline→broker-1": "disabled"}

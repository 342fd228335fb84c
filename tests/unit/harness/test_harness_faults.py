"""Faults on a bench that is made up here; what they do to a real stage is in tests/integration."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.faults.cut_link import CutLink
from harness.faults.targets import Node
from harness.stage.base import StageTrouble
from harness.stage.topology import Link
from harness.wait import Stop

LINK = Link("pipeline", "broker-1")


def bench(*, connections: int, mends: bool = True) -> Any:
    """A stage whose link has so many connections until it is cut, and may stay cut."""
    state = SimpleNamespace(connections=connections, cut=False)

    def cut(link: Link) -> None:
        state.connections, state.cut = 0, True

    def mend(link: Link) -> None:
        if mends:
            state.connections, state.cut = connections, False

    stage = SimpleNamespace(
        connections=lambda link: state.connections if link == LINK else 0,
        cut=cut,
        mend=mend,
        disturbed=lambda: {str(LINK): "disabled"} if state.cut else {},
    )
    return SimpleNamespace(
        stage=stage,
        producers=SimpleNamespace(acknowledged=100, total=200),
        pipeline=SimpleNamespace(last_committed=3, alive=lambda: True),
        stop=Stop(),
    )


def inject(world: Any) -> Any:
    return CutLink(source="pipeline", target=Node(name="broker-1")).inject(world, "cut")


def test_a_link_in_use_is_cut_and_used_again() -> None:
    world = bench(connections=2)
    injection = inject(world)
    world.producers.acknowledged, world.pipeline.last_committed = 150, 5
    assert injection.target == "pipeline→broker-1"
    assert injection.evidence() == (
        "2 connections on pipeline→broker-1 closed, new ones refused; meanwhile 50 records were "
        "acknowledged and 2 micro-batches committed"
    )
    injection.heal()
    assert world.stage.disturbed() == {}


def test_a_link_that_nobody_used_proves_nothing() -> None:
    injection = inject(bench(connections=0))
    assert injection.evidence() is None
    injection.heal()


def test_connections_that_stay_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    world = bench(connections=2)
    world.stage.cut = lambda link: None
    assert inject(world).evidence() is None


def test_a_link_that_stays_cut_is_told() -> None:
    injection = inject(bench(connections=0, mends=False))
    with pytest.raises(StageTrouble, match="pipeline→broker-1 is still cut"):
        injection.heal()

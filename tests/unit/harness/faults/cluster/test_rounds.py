"""Faults one after the other, and links cut as a set, with parts that are made up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.harness.faults.cluster.rounds import Rounds
from onceproof.harness.faults.links.cut_links import Severed
from onceproof.harness.links.ledger import CUT, Disturbance, Hold
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.trouble import StageTrouble

ONE, OTHER = Link("producer", "broker-1"), Link("producer", "broker-2")


def step(story: list[str], name: str, effective: dict[str, bool]) -> Any:
    def inject() -> SimpleNamespace:
        story.append(f"inject {name}")
        return SimpleNamespace(
            target=f"target of {name}",
            at=7,
            evidence=lambda: f"{name} took effect" if effective.get(name, True) else None,
            heal=lambda: story.append(f"heal {name}"),
        )

    return inject


def test_each_has_bitten_and_is_healed_before_the_next_begins() -> None:
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


class Stage:
    """Two links; each has so many connections until it is cut."""

    brokers = ()

    def __init__(self, open_: dict[Link, int]) -> None:
        self.open = open_
        self.cut: set[Link] = set()
        self.stays_open = False
        self.refuses: Link | None = None

    def connections(self, link: Link) -> int:
        return 0 if link in self.cut and not self.stays_open else self.open[link]

    def disturb(self, link: Link, how: Disturbance) -> Hold:
        assert how == CUT
        if link == self.refuses:
            raise StageTrouble("no answer")
        self.cut.add(link)
        return Hold(lambda: self.cut.discard(link))

    def disturbed(self) -> dict[str, str]:
        # Somebody else's, so that nothing is probed here.
        return {str(link): "disabled" for link in (ONE, OTHER)}


def severed(stage: Stage, **more: Any) -> Severed:
    context: Any = SimpleNamespace(stage=stage)
    return Severed(context, [ONE, OTHER], "both", **more)


def test_links_cut_as_a_set() -> None:
    stage = Stage({ONE: 2, OTHER: 1})
    injection = severed(stage)
    assert injection.evidence() == "3 connections on 2 links closed; new ones refused"
    injection.heal()
    assert stage.cut == set()


def test_what_nobody_used_or_nobody_lost_proves_nothing() -> None:
    assert severed(Stage({ONE: 0, OTHER: 0})).evidence() is None
    stage = Stage({ONE: 1, OTHER: 1})
    injection = severed(stage)
    stage.stays_open = True
    assert injection.evidence() is None


def test_what_has_to_follow_is_waited_for() -> None:
    said: list[str | None] = [None]
    injection = severed(Stage({ONE: 1, OTHER: 0}), consequence=lambda since: said[0])
    assert injection.evidence() is None
    said[0] = "it was missed"
    assert injection.evidence() == "1 connections on 2 links closed; it was missed"


def test_all_links_or_none() -> None:
    stage = Stage({ONE: 1, OTHER: 1})
    stage.refuses = OTHER
    with pytest.raises(StageTrouble, match="no answer"):
        severed(stage)
    assert stage.cut == set()

"""Acts are possible where they are offered, and each has a name of its own."""

from __future__ import annotations

import pytest

from onceproof.harness.explore.acts import Single, acts_at
from onceproof.harness.explore.bench.trace import APIS
from onceproof.harness.explore.points import DIRECTIONS, Direction, Point
from onceproof.harness.explore.trials import Aimed, Place, Trial, together
from onceproof.harness.links.gate.rules import MessageMatch


def point(api: str, direction: Direction, *, role: str = "member", target: str = "leader") -> Point:
    return Point(
        role=role, direction=direction, api=api, purpose="work", ordinal="first", target=target
    )


def points() -> list[Point]:
    return [point(api, direction) for api in APIS for direction in DIRECTIONS]


@pytest.mark.parametrize("at", points(), ids=lambda at: at.id)
def test_gate_can_carry_out_every_act(at: Point) -> None:
    acts = list(acts_at(at))
    assert len({act.name for act in acts}) == len(acts)
    for act in acts:
        assert act.direction == at.direction
        MessageMatch(direction=at.direction, api=at.api).rule(act.action, error=act.error)
        single = Single(point=at, act=act)
        assert Single.parse(single.id) == single


def test_client_whose_work_no_other_one_takes_over_is_not_paused() -> None:
    def paused(role: str) -> list[str | None]:
        acts = acts_at(point("Produce", "request", role=role))
        return [act.pauses for act in acts if act.pauses]

    assert paused("member") == paused("job") == ["before", "after"]
    assert paused("producer") == []


def test_no_particular_broker_fails_for_a_message_to_any() -> None:
    def broken(target: str) -> bool:
        return any(act.breaks for act in acts_at(point("Metadata", "request", target=target)))

    assert broken("leader")
    assert not broken("any-broker")


def test_one_failure_serves_trials_that_fail_alike() -> None:
    at = point("Produce", "request")
    trials = {
        act.name: Trial(
            aimed=(Aimed(single=Single(point=at, act=act), place=Place(life=1, nth=1)),)
        )
        for act in acts_at(at)
    }
    quiet = [trials["request lost"], trials["client paused after"]]
    killed, isolated = trials["target killed"], trials["target isolated"]
    assert together([*quiet, killed, isolated]) == quiet
    assert together([killed, *quiet, isolated, killed]) == [killed, killed]
    assert together([]) == []

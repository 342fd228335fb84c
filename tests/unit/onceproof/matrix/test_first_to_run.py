"""What a matrix runs first, when there is not time for everything."""

from __future__ import annotations

import math

from onceproof.catalogue import named
from onceproof.checkers import Verdict
from onceproof.matrix.budget import Budget
from onceproof.matrix.first_to_run import order_by_coverage
from onceproof.matrix.plan import plan
from onceproof.matrix.sample import sample

ALL = plan(named([]), ["local"], 1)


def test_nothing_is_lost_and_nothing_added() -> None:
    assert sorted(p.name for p in order_by_coverage(ALL)) == sorted(p.name for p in ALL)


def test_those_that_speak_for_all_come_first() -> None:
    names = [place.scenario.name for place in order_by_coverage(ALL)]
    can = [p.scenario for p in ALL if p.lacks is None]
    one, two = ({s.name for s in sample(can, seconds)} for seconds in (0, math.inf))
    assert set(names[: len(one)]) == one
    assert set(names[: len(two)]) == two
    convicted = [s for s in can if s.name in two - one]
    assert convicted
    for scenario in convicted:
        assert any(c.expect and c.expect.verdict == Verdict.VIOLATED for c in scenario.claims)


def test_then_what_is_new_before_what_was_tried_already() -> None:
    seen: set[tuple[str, str]] = set()
    new = []
    for place in order_by_coverage(ALL):
        pairs = {(place.scenario.subject.name, kind) for kind in place.kinds or ("none",)}
        new.append(not pairs <= seen)
        seen |= pairs
    spoken = len(sample([p.scenario for p in ALL if p.lacks is None], math.inf))
    rest = new[spoken:]
    assert rest == sorted(rest, reverse=True)
    assert True in rest
    assert False in rest


def test_a_budget_is_used_up_by_time() -> None:
    times = iter([100.0, 100.0, 150.0, 150.1])
    budget = Budget(60, clock=lambda: next(times))
    assert budget.has_room_for(60)
    assert budget.has_room_for(10)
    assert not budget.has_room_for(10)


def test_without_a_limit_there_is_always_room() -> None:
    assert Budget(None).has_room_for(1e9)

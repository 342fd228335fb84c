"""What a matrix runs first within a time limit."""

from __future__ import annotations

import math

from onceproof.catalogue import named
from onceproof.checkers import Verdict
from onceproof.matrix.budget import Budget
from onceproof.matrix.first_to_run import order_by_coverage
from onceproof.matrix.plan import plan
from onceproof.matrix.sample import sample

ALL = plan(named([]), ["local"], 1)


def test_order_is_a_permutation() -> None:
    assert sorted(p.name for p in order_by_coverage(ALL)) == sorted(p.name for p in ALL)


def test_sampled_scenarios_come_first() -> None:
    names = [place.scenario.name for place in order_by_coverage(ALL)]
    supported = [p.scenario for p in ALL if p.lacks is None]
    without_twins, with_twins = (
        {s.name for s in sample(supported, seconds)} for seconds in (0, math.inf)
    )
    assert set(names[: len(without_twins)]) == without_twins
    assert set(names[: len(with_twins)]) == with_twins
    twins = [s for s in supported if s.name in with_twins - without_twins]
    assert twins
    for scenario in twins:
        assert any(c.expect and c.expect.verdict == Verdict.VIOLATED for c in scenario.claims)


def test_new_combinations_precede_tried_ones() -> None:
    seen: set[tuple[str, str]] = set()
    new = []
    for place in order_by_coverage(ALL):
        pairs = {(place.scenario.subject.name, kind) for kind in place.kinds or ("none",)}
        new.append(not pairs <= seen)
        seen |= pairs
    sampled = len(sample([p.scenario for p in ALL if p.lacks is None], math.inf))
    rest = new[sampled:]
    assert rest == sorted(rest, reverse=True)
    assert True in rest
    assert False in rest


def test_budget_shrinks_with_time() -> None:
    times = iter([100.0, 100.0, 150.0, 150.1])
    budget = Budget(60, clock=lambda: next(times))
    assert budget.has_room_for(60)
    assert budget.has_room_for(10)
    assert not budget.has_room_for(10)


def test_unlimited_budget_always_has_room() -> None:
    assert Budget(None).has_room_for(1e9)

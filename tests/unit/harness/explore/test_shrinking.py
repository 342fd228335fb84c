"""Shrinking finds the planted set, in no more tries than its bound."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.explore.shrinking import Shrinker, most_tries, smallest, tries_for


@given(st.data())
def test_shrinks_to_the_planted_set(data: st.DataObject) -> None:
    faults = data.draw(st.lists(st.integers(), unique=True, min_size=1, max_size=12))
    planted = data.draw(st.sets(st.sampled_from(faults), min_size=1, max_size=3))
    shrinker = Shrinker[int](lambda tried: planted <= set(tried), 1)
    assert set(shrinker.shrink(faults)) == planted
    assert shrinker.count <= most_tries(len(faults), 1)


@given(st.data())
def test_order_is_kept(data: st.DataObject) -> None:
    faults = data.draw(st.permutations(range(8)))
    first, second = data.draw(st.permutations(range(8)))[:2]

    def fails(tried: Sequence[int]) -> bool:
        return first in tried and second in tried and tried.index(first) < tried.index(second)

    whole_fails = fails(faults)
    found = Shrinker[int](fails, 1).shrink(faults)
    assert found == ((first, second) if whole_fails else found)


def test_flaky_set_is_shrunk_with_enough_tries() -> None:
    chance = random.Random(1)
    shrinker = Shrinker[int](lambda tried: 3 in tried and chance.random() < 0.3, tries_for(0.3))
    assert shrinker.shrink((1, 2, 3)) == (3,)


@pytest.mark.parametrize(("rate", "tries"), [(1.0, 1), (0.5, 5), (0.3, 9), (0.01, 20)])
def test_tries_for_a_rate(rate: float, tries: int) -> None:
    assert tries_for(rate) == tries


@pytest.mark.parametrize("rate", [0.0, -0.1, 1.1])
def test_impossible_rate_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="invalid rate"):
        tries_for(rate)


@given(st.integers(1, 50), st.integers(1, 50))
def test_smallest_value_that_fails(value: int, bound: int) -> None:
    bound = min(bound, value)
    assert smallest(value, 1, lambda n: n >= bound) == bound

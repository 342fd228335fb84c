"""Intervals of ratios and differences."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onceproof.harness.cost.estimate import LEAST, difference, ratio, trimmed_mean

RATES = st.floats(min_value=1, max_value=1e6)
ROUNDS = st.lists(st.tuples(RATES, RATES), min_size=LEAST, max_size=30)


@settings(max_examples=20)  # an estimate draws thousands of times
@given(ROUNDS)
def test_ratio_is_a_trimmed_mean_and_turns_around(pairs: list[tuple[float, float]]) -> None:
    base, other = [b for b, _ in pairs], [o for _, o in pairs]
    found, turned = ratio(base, other), ratio(other, base)
    assert found.low <= found.value <= found.high
    assert math.isclose(found.value, math.exp(trimmed_mean([math.log(o / b) for b, o in pairs])))
    assert math.isclose(found.value * turned.value, 1.0)


@settings(max_examples=20)
@given(ROUNDS, st.floats(min_value=-5, max_value=5))
def test_difference_moves_with_its_values(pairs: list[tuple[float, float]], by: float) -> None:
    base, other = [b for b, _ in pairs], [o for _, o in pairs]
    found, moved = difference(base, other), difference(base, [o + by for o in other])
    for one, another in zip(
        (found.value, found.low, found.high), (moved.value, moved.low, moved.high), strict=True
    ):
        assert math.isclose(one + by, another, abs_tol=1e-3)


@given(RATES, st.integers(min_value=LEAST, max_value=30))
def test_equal_ways_have_a_ratio_of_one_without_width(rate: float, rounds: int) -> None:
    found = ratio([rate] * rounds, [rate] * rounds)
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)


def test_spoilt_rounds_do_not_move_the_estimate() -> None:
    """A fifth at either end are left out, and no others."""
    quiet = [float(value) for value in range(1, 11)]
    assert trimmed_mean(quiet) == 5.5
    assert trimmed_mean([-1e9, -1e9, *quiet[2:8], 1e9, 1e9]) == 5.5
    assert trimmed_mean([*quiet[:7], 1e9, 1e9, 1e9]) > 1e8


@pytest.mark.parametrize("confidence", [0.95, 0.99])
def test_interval_covers_the_truth_as_often_as_it_says(confidence: float) -> None:
    """With ten rounds, where a plain percentile bootstrap covers it too rarely."""
    draw, tries = random.Random(7), 200
    covered = 0
    for _ in range(tries):
        base = [100 * math.exp(draw.gauss(0, 0.1)) for _ in range(10)]
        other = [0.9 * b * math.exp(draw.gauss(0, 0.1)) for b in base]
        covered += ratio(base, other, confidence=confidence).contains(0.9)
    assert confidence - 0.03 <= covered / tries


def test_too_few_rounds_and_stopped_ways_are_refused() -> None:
    with pytest.raises(ValueError, match="9 turns: an estimate needs at least 10"):
        ratio([1.0] * 9, [1.0] * 9)
    with pytest.raises(ValueError, match="positive"):
        ratio([1.0] * 10, [0.0] * 10)
    with pytest.raises(ValueError, match="zip"):
        ratio([1.0] * 10, [1.0] * 11)

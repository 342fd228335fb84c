"""Whether two intervals agree."""

from __future__ import annotations

from benchmarks.perf_test import agree
from onceproof.harness.cost.estimate import Estimate


def test_intervals_with_a_common_value_agree() -> None:
    one = Estimate(value=0.9, low=0.8, high=0.95)
    assert agree(one, Estimate(value=0.97, low=0.95, high=0.99))
    assert agree(Estimate(value=0.9, low=0.7, high=1.2), one)
    assert not agree(one, Estimate(value=0.97, low=0.96, high=0.99))
    assert not agree(Estimate(value=0.97, low=0.96, high=0.99), one)

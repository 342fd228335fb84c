"""Compare two ways round by round, with an interval.

Rounds are compared pair by pair, because both ways of a round meet the same neighbours. The median
of the pairs is told, because a neighbour that wakes up spoils some rounds by a lot. An interval
is a percentile bootstrap over rounds (Efron 1979), expanded for their small number: rounds are
drawn again with replacement, each as a block with all that was measured in it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist, median
from typing import Final

USUAL: Final = 0.95
LEAST: Final = 10
"""Fewest rounds for an interval."""
_DRAWS: Final = 2_000


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """An estimate with its interval."""

    value: float
    low: float
    high: float

    def contains(self, value: float) -> bool:
        return self.low <= value <= self.high


def ratio(
    base: Sequence[float], other: Sequence[float], *, confidence: float = USUAL, seed: int = 1
) -> Estimate:
    """Return the median of other/base.

    Raises:
        ValueError: the lengths differ, there are less than `LEAST` rounds, or a value is not
            positive.
    """
    pairs = list(zip(base, other, strict=True))
    if any(b <= 0 or o <= 0 for b, o in pairs):
        raise ValueError("ratios need positive values")
    logs = [math.log(o / b) for b, o in pairs]
    found = _bootstrap(logs, confidence, seed)
    return Estimate(value=math.exp(found.value), low=math.exp(found.low), high=math.exp(found.high))


def difference(
    base: Sequence[float], other: Sequence[float], *, confidence: float = USUAL, seed: int = 1
) -> Estimate:
    """Return the median of other - base; raises as `ratio`, but for any values."""
    return _bootstrap([o - b for b, o in zip(base, other, strict=True)], confidence, seed)


def _bootstrap(values: Sequence[float], confidence: float, seed: int) -> Estimate:
    if len(values) < LEAST:
        raise ValueError(f"{len(values)} rounds: an estimate needs at least {LEAST}")
    drawn = _drawn(tuple(values), seed)
    beyond = int((1 - confidence) / 2 * _DRAWS)
    value, wider = median(values), _wider(len(values), confidence)
    return Estimate(
        value=value,
        low=value + wider * min(drawn[beyond] - value, 0.0),
        high=value + wider * max(drawn[_DRAWS - 1 - beyond] - value, 0.0),
    )


@lru_cache(maxsize=16)
def _drawn(values: tuple[float, ...], seed: int) -> tuple[float, ...]:
    """Return the medians of all resamples, in order; proofs ask twice, at two confidences."""
    draw = random.Random(seed)
    return tuple(sorted(median(draw.choices(values, k=len(values))) for _ in range(_DRAWS)))


def _wider(rounds: int, confidence: float) -> float:
    """Return by how much an interval is expanded, because it is too narrow with few rounds.

    A resample varies less than a sample, and by a normal quantile where Student's is right
    (Hesterberg 2015, "What teachers should know about the bootstrap", section 5.3, of means; that
    it does for medians of ten rounds is shown by simulation in the tests).
    """
    z, free = NormalDist().inv_cdf((1 + confidence) / 2), rounds - 1
    # Student's quantile by the first terms of its Cornish-Fisher expansion.
    t = z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
    return t / z * math.sqrt(rounds / free)

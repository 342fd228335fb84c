"""From a failing set of faults to the smallest that still fails, where failing is not certain."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Generic, TypeVar

T = TypeVar("T")
SURE: Final = 0.95
"""How sure it is that a set does not fail, when it has not failed in all its tries."""
SMALL: Final = 3
"""Up to so many faults, all subsets are tried."""


def tries_for(rate: float, *, most: int = 20) -> int:
    """How many tries without a failure show that a set does not fail, by the confirmed rate.

    Args:
        rate: share of tries in which the whole set failed, above 0.

    Raises:
        ValueError: the rate is no share of tries.
    """
    if not 0 < rate <= 1:
        raise ValueError(f"invalid rate {rate}: expected a number above 0 and at most 1")
    if rate == 1:
        return 1
    return min(most, math.ceil(math.log(1 - SURE) / math.log(1 - rate)))


@dataclass
class Shrinker(Generic[T]):
    """Shrinks one failing set.

    Attributes:
        fails: tries a set once; whether it failed in the same way as the whole set.
        tries: how often a set is tried before it counts as one that does not fail.
    """

    fails: Callable[[Sequence[T]], bool]
    tries: int
    count: int = 0
    """Tries so far."""

    def shrink(self, whole: Sequence[T]) -> tuple[T, ...]:
        """The smallest subset that was seen to fail; the whole set if no other one was."""
        least = tuple(whole)
        if len(least) > SMALL:
            least = self._by_halves(least)
        for size in range(1, min(len(least), SMALL + 1)):
            for subset in combinations(least, size):
                if self._failed(subset):
                    return subset
        return least

    def _by_halves(self, faults: tuple[T, ...]) -> tuple[T, ...]:
        """Delta debugging (Zeller and Hildebrandt, 2002): leave out ever smaller parts."""
        parts = 2
        while len(faults) > SMALL and parts <= len(faults):
            size = math.ceil(len(faults) / parts)
            for start in range(0, len(faults), size):
                rest = faults[:start] + faults[start + size :]
                if rest and self._failed(rest):
                    faults, parts = rest, max(parts - 1, 2)
                    break
            else:
                if size == 1:
                    break
                parts = min(2 * parts, len(faults))
        return faults

    def _failed(self, faults: Sequence[T]) -> bool:
        for _ in range(self.tries):
            self.count += 1
            if self.fails(faults):
                return True
        return False


def most_tries(faults: int, tries: int) -> int:
    """An upper bound of the tries that it takes to shrink so many faults."""
    halving = 0 if faults <= SMALL else faults * (faults + 7) // 2
    small = min(faults, SMALL) if faults <= SMALL else SMALL + 1
    subsets = sum(math.comb(max(faults, small), size) for size in range(1, SMALL + 1))
    return tries * (halving + subsets)


def smallest(value: int, least: int, fails: Callable[[int], bool]) -> int:
    """The smallest value from `least` that fails, for what fails from some size on.

    Args:
        value: one that fails.
    """
    low, high = least, value
    while low < high:
        middle = (low + high) // 2
        if fails(middle):
            high = middle
        else:
            low = middle + 1
    return high

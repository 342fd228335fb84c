"""Which effects of a generated history are mutated: some left out, some there twice.

Only effects that are the sole one of their record and effect key are drawn,
so that every mutation is one finding, and the findings can be counted.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.episode import Row
from benchmarks.plan import Plan


@dataclass(frozen=True, kw_only=True)
class Mutations:
    """Ordinals of the effects that are left out, and of those that are there twice."""

    dropped: tuple[int, ...] = ()
    duplicated: tuple[int, ...] = ()


def draw_mutations(plan: Plan, effects: Sequence[Row], times: int) -> Mutations:
    """Random ones among the effects of an episode that is repeated so many times.

    Raises:
        ValueError: there are not enough effects.
    """
    slots = Counter(_slot(effect) for effect in effects)
    sole = [place for place, effect in enumerate(effects) if slots[_slot(effect)] == 1]
    wanted, there = plan.drop + plan.duplicate, times * len(sole)
    if wanted > there:
        raise ValueError(f"{plan.name}: {wanted} mutations are too many for {there} effects")
    drawn = random.Random(plan.name).sample(range(there), wanted)
    ordinals = [n // len(sole) * len(effects) + sole[n % len(sole)] for n in drawn]
    return Mutations(dropped=tuple(ordinals[: plan.drop]), duplicated=tuple(ordinals[plan.drop :]))


def _slot(effect: Row) -> tuple[object, ...]:
    return effect["producer"], effect["record"], effect["leg"]

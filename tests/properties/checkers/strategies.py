"""Hypothesis strategies for worlds and mutations that shrink to readable cases.

A shape is drawn field by field, simplest value first; everything else depends on one seed.
"""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from tests.properties.checkers.cases import Case
from tests.properties.checkers.mutating import MUTATIONS, mutated
from tests.properties.checkers.world import CHOICES, Shape, build

LEGAL: Final = frozenset({"G0", "G1c-ww"})
"""Anomalies that a correct history may have; they refute no claim."""


def shapes() -> st.SearchStrategy[Shape]:
    """Shapes of worlds."""
    return st.builds(Shape, **{name: st.sampled_from(c) for name, c in CHOICES.items()})


def _case(shape: Shape, seed: int, mutations: list[str]) -> Case:
    world, applied = mutated(build(shape, seed), mutations, seed)
    return Case(name=f"build({shape}, {seed})", shape=shape, world=world, mutations=applied)


def cases() -> st.SearchStrategy[Case]:
    """Worlds with up to three mutations."""
    mutations = st.lists(st.sampled_from(sorted(MUTATIONS)), max_size=3)
    return st.builds(_case, shapes(), st.integers(0, 2**16), mutations)

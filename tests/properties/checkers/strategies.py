"""Worlds and mutations for Hypothesis, drawn so that a failure shrinks to something readable.

The shape is drawn field by field, dull values first; what chance does within
a shape hangs on one seed.
"""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from tests.properties.checkers.cases import Case
from tests.properties.checkers.mutating import MUTATIONS, mutated
from tests.properties.checkers.world import CHOICES, Shape, build

LEGAL: Final = frozenset({"G0", "G1c-ww"})
"""Anomalies that a correct history may have: they refute nothing."""


def shapes() -> st.SearchStrategy[Shape]:
    """Any shape of a world."""
    return st.builds(Shape, **{name: st.sampled_from(c) for name, c in CHOICES.items()})


def _case(shape: Shape, seed: int, mutations: list[str]) -> Case:
    world, made = mutated(build(shape, seed), mutations, seed)
    return Case(name=f"build({shape}, {seed})", shape=shape, world=world, mutations=made)


def cases() -> st.SearchStrategy[Case]:
    """A world with up to three mutations."""
    mutations = st.lists(st.sampled_from(sorted(MUTATIONS)), max_size=3)
    return st.builds(_case, shapes(), st.integers(0, 2**16), mutations)

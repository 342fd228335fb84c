"""Mutations: what can go wrong in a history, one kind per module, applied at various places.

A new mutation is an entry in a module's `MUTATIONS`, a new kind of mutation a new module here;
both are found automatically.
"""

from __future__ import annotations

from itertools import chain
from random import Random
from typing import Final, cast

from onceproof.checkers.scan import members
from tests.properties.checkers.mutating.base import Mutation
from tests.properties.checkers.world import World

__all__ = ["MUTATIONS", "Mutation", "mutated"]

MUTATIONS: Final[dict[str, Mutation]] = {
    mutation.name: mutation
    for mutation in chain.from_iterable(
        cast("tuple[tuple[Mutation, ...]]", members(__name__, "MUTATIONS"))
    )
}
"""All mutations by name."""


def mutated(world: World, names: list[str], seed: int) -> tuple[World, dict[str, str]]:
    """A copy with these mutations, and the kind of place at which each was applied, if any."""
    copy, draw = world.copy(), Random(seed)
    applied = {}
    for name in names:
        place = MUTATIONS[name].make(copy, draw)
        if place is not None:
            applied[name] = place
    return copy, applied

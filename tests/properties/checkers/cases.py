"""Cases: worlds with the mutations that were drawn for them, each the same again for the same seed.

A case is named by its seed and by the anomaly that its mutations are to make,
if they are to make a certain one; that is all that is needed to repeat it.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.properties.checkers.mutating import MUTATIONS, mutated
from tests.properties.checkers.world import Shape, World, build


@dataclass(frozen=True, kw_only=True)
class Case:
    """One world, and what was done to it."""

    name: str
    shape: Shape
    world: World
    mutations: dict[str, str]
    """Mutation → at what kind of place it was made; empty: all is right."""

    @classmethod
    def of(cls, seed: int, toward: str | None = None) -> Case:
        """The case of a seed.

        Args:
            seed: any number.
            toward: an anomaly that the first mutation is to make; None: any mutations, or none.
        """
        draw = Random(f"{seed} {toward}")
        shape = Shape.drawn(draw)
        world = build(shape, draw.getrandbits(32))
        names = _mutations(draw, toward)
        world, made = mutated(world, names, draw.getrandbits(32))
        name = f"{seed}" if toward is None else f"{seed}:{toward}"
        return cls(name=name, shape=shape, world=world, mutations=made)

    @classmethod
    def named(cls, name: str) -> Case:
        """The case that has this name."""
        seed, _, toward = name.partition(":")
        return cls.of(int(seed), toward or None)

    def __str__(self) -> str:
        mutations = (
            ", ".join(f"{name} ({place})" for name, place in self.mutations.items()) or "unhurt"
        )
        return f"{self.name}: {self.shape}, {mutations}"


def _mutations(draw: Random, toward: str | None) -> list[str]:
    """Names of one to three mutations, or of none; every anomaly is meant equally often."""
    if toward is None and draw.random() < 0.3:
        return []
    meanings: dict[str | None, list[str]] = {}
    for mutation in MUTATIONS.values():
        meanings.setdefault(mutation.means, []).append(mutation.name)
    order: list[str | None] = sorted(meanings, key=str)
    names = [draw.choice(meanings[toward])] if toward in meanings and toward is not None else []
    while len(names) < draw.choice((1, 1, 2, 3)):
        names.append(draw.choice(meanings[draw.choice(order)]))
    return names

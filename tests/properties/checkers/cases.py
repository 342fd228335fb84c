"""Cases: generated worlds with mutations, reproducible from their name.

A name consists of a seed and, optionally, the anomaly that the mutations aim at.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.properties.checkers.mutating import MUTATIONS, mutated
from tests.properties.checkers.world import Shape, World, build


@dataclass(frozen=True, kw_only=True)
class Case:
    """One world and the mutations applied to it."""

    name: str
    shape: Shape
    world: World
    mutations: dict[str, str]
    """Mutation → kind of place where it was applied; empty: a correct world."""

    @classmethod
    def of(cls, seed: int, toward: str | None = None) -> Case:
        """The case of a seed.

        Args:
            seed: any number.
            toward: anomaly that the first mutation aims at; None: random mutations or none.
        """
        draw = Random(f"{seed} {toward}")
        shape = Shape.drawn(draw)
        world = build(shape, draw.getrandbits(32))
        names = _mutations(draw, toward)
        world, applied = mutated(world, names, draw.getrandbits(32))
        name = f"{seed}" if toward is None else f"{seed}:{toward}"
        return cls(name=name, shape=shape, world=world, mutations=applied)

    @classmethod
    def named(cls, name: str) -> Case:
        """The case with this name."""
        seed, _, toward = name.partition(":")
        return cls.of(int(seed), toward or None)

    def __str__(self) -> str:
        mutations = (
            ", ".join(f"{name} ({place})" for name, place in self.mutations.items()) or "unhurt"
        )
        return f"{self.name}: {self.shape}, {mutations}"


def _mutations(draw: Random, toward: str | None) -> list[str]:
    """Names of up to three mutations, with every anomaly equally likely."""
    if toward is None and draw.random() < 0.3:
        return []
    by_anomaly: dict[str | None, list[str]] = {}
    for mutation in MUTATIONS.values():
        by_anomaly.setdefault(mutation.means, []).append(mutation.name)
    order: list[str | None] = sorted(by_anomaly, key=str)
    names = [draw.choice(by_anomaly[toward])] if toward in by_anomaly and toward is not None else []
    while len(names) < draw.choice((1, 1, 2, 3)):
        names.append(draw.choice(by_anomaly[draw.choice(order)]))
    return names

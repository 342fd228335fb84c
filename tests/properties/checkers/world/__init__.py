"""Random worlds in which everything went right, with every legal oddity.

A world simulates producers, transactions, a broker, readers, pipelines and sinks according to a
`Shape`; the same seed builds the same world.
"""

from __future__ import annotations

from random import Random

from tests.properties.checkers.world.building import build
from tests.properties.checkers.world.rows import Place, Row, Rows, new
from tests.properties.checkers.world.shape import CHOICES, Shape
from tests.properties.checkers.world.trial import Trial, World

__all__ = [
    "CHOICES",
    "Place",
    "Row",
    "Rows",
    "Shape",
    "Trial",
    "World",
    "any_world",
    "build",
    "new",
]


def any_world(seed: int) -> World:
    """A correct world of a random shape."""
    return build(Shape.drawn(Random(seed)), seed)

"""State shared by all actors of a world: randomness, time, the broker and the tables.

There is one time for the whole world, but each host has its own clock, and readings of different
clocks are never compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Final, TypeVar

from tests.properties.checkers.world.broker import Broker
from tests.properties.checkers.world.rows import Row, empty_tables, new
from tests.properties.checkers.world.shape import Shape

T = TypeVar("T")

INPUT: Final = "input"
ORDERS: Final = "orders"
"""The second topic."""


class Stage:
    """A world under construction."""

    def __init__(self, shape: Shape, draw: Random) -> None:
        self.shape = shape
        self.draw = draw
        self.rows = empty_tables()
        self.broker = Broker(self.rows, draw, jumps=shape.jumps)
        self.now = 0
        self.settled = True
        """Whether no transaction was left open."""
        self.produced = False
        """Whether producers have finished and their transactions have ended."""
        self.topics = (INPUT, ORDERS) if shape.second_topic else (INPUT,)
        for topic in self.topics:
            for partition in range(shape.partitions):
                self.broker.create((topic, partition))
        self.records = [f"r{n}" for n in range(shape.records)]
        self.topics_of = {r: self._draw_topics(n) for n, r in enumerate(self.records)}
        """The topics that each record may be sent to."""
        self.key_of = {r: self.pick(("k0", "k0", "k1", None)) for r in self.records}

    def _draw_topics(self, number: int) -> tuple[str, ...]:
        """One topic, or both if effects name their source topic."""
        distinguishable = self.shape.sources == "all" and not self.shape.deduplicates
        if distinguishable and self.maybe(0.2):
            return self.topics
        return (INPUT if number == 0 else self.pick(self.topics),)

    def add(self, table: str, **given: Any) -> Row:
        """Record a row."""
        row = new(table, **given)
        self.rows[table].append(row)
        return row

    def tick(self) -> int:
        """Advance the time and return it."""
        self.now += self.draw.randint(1, 3)
        return self.now

    def maybe(self, chance: float = 0.5) -> bool:
        return self.draw.random() < chance

    def pick(self, choices: Sequence[T]) -> T:
        return self.draw.choice(choices)

    def known(self, value: T, chance: float = 0.8) -> T | None:
        """The value, or None if the world did not record it."""
        return value if self.maybe(chance) else None

"""What all actors of one world share: chance, time, the broker and the tables.

Time is one count for the whole world, but each host tells it by a clock of
its own, and what two clocks say is never compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Final, TypeVar

from tests.properties.checkers.world.broker import Broker
from tests.properties.checkers.world.rows import Row, new, nothing
from tests.properties.checkers.world.shape import Shape

T = TypeVar("T")

INPUT: Final = "input"
ORDERS: Final = "orders"
"""A second topic."""


class Stage:
    """One world in the making."""

    def __init__(self, shape: Shape, draw: Random) -> None:
        self.shape = shape
        self.draw = draw
        self.rows = nothing()
        self.broker = Broker(self.rows, draw, jumps=shape.jumps)
        self.now = 0
        self.settled = True
        """No transaction was left open."""
        self.produced = False
        """Producers are gone, and what they left open has ended."""
        self.topics = (INPUT, ORDERS) if shape.second_topic else (INPUT,)
        for topic in self.topics:
            for partition in range(shape.partitions):
                self.broker.create((topic, partition))
        self.records = [f"r{n}" for n in range(shape.records)]
        self.homes = {r: self._homes(n) for n, r in enumerate(self.records)}
        """The topics that each record may be sent to."""
        self.key_of = {r: self.pick(("k0", "k0", "k1", None)) for r in self.records}

    def _homes(self, number: int) -> tuple[str, ...]:
        """One topic; or both, where effects say which of them they come from."""
        told = self.shape.sources == "all" and not self.shape.deduplicates
        if told and self.maybe(0.2):
            return self.topics
        return (INPUT if number == 0 else self.pick(self.topics),)

    def add(self, table: str, **given: Any) -> Row:
        """Record a row."""
        row = new(table, **given)
        self.rows[table].append(row)
        return row

    def tick(self) -> int:
        """The time, which never stands still."""
        self.now += self.draw.randint(1, 3)
        return self.now

    def maybe(self, chance: float = 0.5) -> bool:
        return self.draw.random() < chance

    def pick(self, choices: Sequence[T]) -> T:
        return self.draw.choice(choices)

    def known(self, value: T, chance: float = 0.8) -> T | None:
        """The value, unless this world forgot to write it down."""
        return value if self.maybe(chance) else None

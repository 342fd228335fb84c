"""What ends a fault, once it has bitten."""

from __future__ import annotations

from dataclasses import dataclass

from harness.bench import Bench


@dataclass(frozen=True, kw_only=True)
class Bitten:
    """It ends as soon as it is proven to have bitten."""

    def describe(self) -> str:
        """In words."""
        return "it is proven to have bitten"

    def begin(self, bench: Bench) -> object:
        """Nothing to remember."""
        return None

    def reached(self, bench: Bench, begun: object) -> bool:
        """At once."""
        return True


@dataclass(frozen=True, kw_only=True)
class Acknowledged:
    """It lasts until the producers got so many more records acknowledged."""

    records: int

    def describe(self) -> str:
        """In words."""
        return f"{self.records} more records are acknowledged"

    def begin(self, bench: Bench) -> object:
        """How many are acknowledged when it starts."""
        return bench.producers.acknowledged

    def reached(self, bench: Bench, begun: object) -> bool:
        """Whether enough were, or no more can be."""
        assert isinstance(begun, int)
        done = bench.producers.acknowledged - begun
        return done >= self.records or bench.producers.finished

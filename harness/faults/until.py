"""What ends a fault, once it has taken effect."""

from __future__ import annotations

from dataclasses import dataclass

from onceproof.harness.context.run_context import RunContext


@dataclass(frozen=True, kw_only=True)
class TookEffect:
    """It ends as soon as it is proven to have taken effect."""

    def describe(self) -> str:
        return "it is proven to have taken effect"

    def begin(self, context: RunContext) -> object:
        return None

    def reached(self, context: RunContext, begun: object) -> bool:
        return True


@dataclass(frozen=True, kw_only=True)
class Lasted:
    """It lasts for some time: longer than a time-out of the pipeline that nobody sees."""

    seconds: float

    def describe(self) -> str:
        return f"{self.seconds:g} s have passed"

    def begin(self, context: RunContext) -> object:
        return context.stop.monotonic()

    def reached(self, context: RunContext, begun: object) -> bool:
        assert isinstance(begun, float)
        return context.stop.monotonic() - begun >= self.seconds


@dataclass(frozen=True, kw_only=True)
class Acknowledged:
    """It lasts until the producers got so many more records acknowledged."""

    records: int

    def describe(self) -> str:
        return f"{self.records} more records are acknowledged"

    def begin(self, context: RunContext) -> object:
        return context.producers.acknowledged

    def reached(self, context: RunContext, begun: object) -> bool:
        """Whether enough were, or no more can be."""
        assert isinstance(begun, int)
        done = context.producers.acknowledged - begun
        return done >= self.records or context.producers.finished

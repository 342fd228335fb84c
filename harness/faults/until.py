"""Conditions that end a fault once it has taken effect."""

from __future__ import annotations

from dataclasses import dataclass

from onceproof.harness.context.run_context import RunContext


@dataclass(frozen=True, kw_only=True)
class TookEffect:
    """End the fault as soon as it is proven to have taken effect."""

    def describe(self) -> str:
        return "it is proven to have taken effect"

    def begin(self, context: RunContext) -> object:
        return None

    def reached(self, context: RunContext, begun: object) -> bool:
        return True


@dataclass(frozen=True, kw_only=True)
class Lasted:
    """End the fault after some seconds, e.g. to outlast a time-out that is not visible."""

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
    """End the fault when the producers have had so many more records acknowledged."""

    records: int

    def describe(self) -> str:
        return f"{self.records} more records are acknowledged"

    def begin(self, context: RunContext) -> object:
        return context.producers.acknowledged

    def reached(self, context: RunContext, begun: object) -> bool:
        """Whether enough records were acknowledged, or no more can be."""
        assert isinstance(begun, int)
        done = context.producers.acknowledged - begun
        return done >= self.records or context.producers.finished

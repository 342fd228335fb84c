"""Several outputs of one pipeline as one sink; each effect names its output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from onceproof.harness.sinks.base import AtomicBatch, Effect, Sink, State


class OwnOutput(Sink, Protocol):
    """An output whose effects name the inputs that they come from."""

    def records(self) -> frozenset[str | None]:
        """Return the inputs that its effects name; None among them if one names none."""


class CombinedOutputs:
    """The combined outputs."""

    def __init__(self, outputs: Sequence[OwnOutput], letters: OwnOutput | None = None) -> None:
        """`letters` is the dead-letter output; a dead letter counts for all outputs."""
        self._outputs = tuple(outputs)
        self._letters = () if letters is None else (letters,)
        self._sinks = (*self._outputs, *self._letters)
        self.name = self._sinks[0].name

    def size(self) -> int:
        return sum(sink.size() for sink in self._sinks)

    def effects(self) -> list[Effect]:
        return [effect for sink in self._sinks for effect in sink.effects()]

    def named(self) -> list[frozenset[str | None]]:
        """Return, for each output, the inputs that have an effect there or a dead letter."""
        given_up = [sink.records() for sink in self._letters]
        return [sink.records().union(*given_up) for sink in self._outputs]

    def states(self) -> list[State]:
        return [state for sink in self._sinks for state in sink.states()]

    def atomic_batches(self) -> list[AtomicBatch]:
        return [batch for sink in self._sinks for batch in sink.atomic_batches()]

    def hanging(self) -> bool:
        return any(sink.hanging() for sink in self._sinks)

"""A pipeline's dead-letter output.

An input has either its effects or one dead letter, never both and never neither. Dead letters
therefore appear in every view in which an output is judged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from onceproof.harness.sinks.base import AtomicBatch, Effect, State
from onceproof.harness.user_pipeline.together import OwnOutput


class DeadLetters:
    """A dead-letter output as an additional sink."""

    def __init__(self, sink: OwnOutput, views: Iterable[str]) -> None:
        """`views` are those of the pipeline's other outputs."""
        self.name = sink.name
        self._sink = sink
        self._views = tuple(dict.fromkeys(views))

    def size(self) -> int:
        return self._sink.size()

    def effects(self) -> list[Effect]:
        found = self._sink.effects()
        return [replace(effect, view=view) for view in self._views for effect in found]

    def records(self) -> frozenset[str | None]:
        return self._sink.records()

    def states(self) -> list[State]:
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        return []

    def hanging(self) -> bool:
        return self._sink.hanging()

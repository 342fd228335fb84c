"""The sink of a subject that has none."""

from __future__ import annotations

from onceproof.harness.sinks.base import AtomicBatch, Effect, State


class Nothing:
    """Always empty."""

    name = ""

    def size(self) -> int:
        """Nothing grows."""
        return 0

    def effects(self) -> list[Effect]:
        """None."""
        return []

    def states(self) -> list[State]:
        """None."""
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        """None."""
        return []

    def hanging(self) -> bool:
        """Nothing can."""
        return False

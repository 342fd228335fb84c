"""The sink of a subject without one."""

from __future__ import annotations

from onceproof.harness.sinks.base import AtomicBatch, Effect, State


class EmptySink:
    """Always empty."""

    name = ""

    def size(self) -> int:
        return 0

    def effects(self) -> list[Effect]:
        return []

    def states(self) -> list[State]:
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        return []

    def hanging(self) -> bool:
        return False

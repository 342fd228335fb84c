"""The interface by which the auditor reads a sink.

Content is reduced to a digest, so that checkers compare it without knowing its format.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, kw_only=True)
class Effect:
    """One effect, a row of the history's table `effects`."""

    sink: str
    view: str
    record: str | None
    effect_key: str
    digest: str
    position: str
    ordinal: int
    source_topic: str | None = None
    source_partition: int | None = None
    source_offset: int | None = None
    owner: str | None = None
    batch: int | None = None


@dataclass(frozen=True, kw_only=True)
class State:
    """The final value of one aggregate of one key, a row of the history's table `state`."""

    sink: str
    view: str
    state_key: str
    aggregate: str
    amount: int | None = None
    digest: str | None = None


@dataclass(frozen=True, kw_only=True)
class AtomicBatch:
    """A micro-batch that the sink records in the same transaction as its effects."""

    owner: str
    batch: int
    ordinal: int


class Sink(Protocol):
    """A sink that can be read to its end."""

    @property
    def name(self) -> str:
        """The sink's name in effects; empty if there is no sink."""

    def size(self) -> int:
        """Return a number that grows with every effect that becomes visible; cheap to call."""

    def effects(self) -> list[Effect]:
        """Return every effect that a reader of the sink's view sees."""

    def states(self) -> list[State]:
        """Return the value of every aggregate of every key; empty if the sink has none."""

    def atomic_batches(self) -> list[AtomicBatch]:
        """Return the batches that the sink records atomically with their effects."""

    def hanging(self) -> bool:
        """Return whether a transaction in the sink is still open."""


@runtime_checkable
class SinkWithBatches(Protocol):
    """A sink whose rows identify micro-batches but not single records."""

    def batches(self) -> frozenset[int]:
        """Return the micro-batches that have rows."""

"""How the auditor looks into a sink.

An effect's content is reduced to a digest here, of the columns that the
workload names, so that the checkers compare content without knowing any format.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, kw_only=True)
class Effect:
    """One effect, as the `effects` table of the history has it."""

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
    """The final value of one aggregate of one key, as the `state` table of the history has it."""

    sink: str
    view: str
    state_key: str
    aggregate: str
    amount: int | None = None
    digest: str | None = None


@dataclass(frozen=True, kw_only=True)
class AtomicBatch:
    """A micro-batch that the sink itself says it has, in the same transaction as its effects."""

    owner: str
    batch: int
    ordinal: int


class Sink(Protocol):
    """A sink that can be read to its end."""

    @property
    def name(self) -> str:
        """What effects call it; empty if there is none."""

    def size(self) -> int:
        """A number that grows with every effect that becomes visible; cheap to ask for."""

    def effects(self) -> list[Effect]:
        """Every effect that a reader of this view sees."""

    def states(self) -> list[State]:
        """The value of every aggregate of every key; empty where a sink has none."""

    def atomic_batches(self) -> list[AtomicBatch]:
        """Batches whose position is in the sink, atomic with their effects."""

    def hanging(self) -> bool:
        """Whether something in the sink is still undecided."""


@runtime_checkable
class TellsBatches(Protocol):
    """A sink whose rows tell nothing of single records, and all the same of micro-batches."""

    def batches(self) -> frozenset[int]:
        """Micro-batches of which rows are there."""

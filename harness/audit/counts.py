"""How much an audit read, and how much of it is judged."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class OutputCounts:
    """Number of effects in an output: of judged inputs, of other inputs that were read, of inputs
    that were not read, and without an identity.
    """

    name: str
    view: str
    judged: int
    others: int
    unknown: int
    nameless: int


@dataclass(frozen=True, kw_only=True)
class PartitionCounts:
    """Number of inputs of a partition in the window.

    Attributes:
        first, last: the window's first offset, and the one after its last.
        undecided: inputs that the pipeline may not have processed yet.
        nameless: inputs without an identity.
        reached: offset up to which the pipeline is known to have processed; None: unknown.
        undecided_since: timestamp of the oldest undecided input, in milliseconds.
        from_at, to_at: oldest and newest timestamp in the window.
    """

    partition: int
    first: int
    last: int
    inputs: int
    undecided: int
    nameless: int
    reached: int | None
    undecided_since: int | None
    from_at: int | None
    to_at: int | None

    @property
    def judged(self) -> int:
        return self.inputs - self.undecided - self.nameless


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How much was read, and how much of it is judged."""

    partitions: tuple[PartitionCounts, ...]
    outputs: tuple[OutputCounts, ...]

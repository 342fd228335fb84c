"""How far everything that is counted has come: ordinals, records, transactions, offsets.

A history is one episode, repeated. What the episode adds to each counter is
the stride from one repetition to the next.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, TypeVar

_K = TypeVar("_K")

PRODUCERS: Final = 2
PARTITIONS: Final = 8


@dataclass(kw_only=True)
class Counters:
    """All counters: the next number of each kind."""

    step: int = 0
    """Time, in steps."""
    effect: int = 0
    ordinal: Counter[int] = field(default_factory=Counter)
    """Sends, by producer."""
    record: Counter[int] = field(default_factory=Counter)
    """Records, by producer."""
    txn: Counter[int] = field(default_factory=Counter)
    """Transactions, by producer."""
    offset: Counter[int] = field(default_factory=Counter)
    """By partition, from the beginning of the log."""
    sequence: Counter[tuple[int, int]] = field(default_factory=Counter)
    """By producer and partition."""

    def times(self, n: int) -> Counters:
        """Where everything is after `n` repetitions of what came to these counters."""
        return Counters(
            step=self.step * n,
            effect=self.effect * n,
            ordinal=_times(self.ordinal, n),
            record=_times(self.record, n),
            txn=_times(self.txn, n),
            offset=_times(self.offset, n),
            sequence=_times(self.sequence, n),
        )


def _times(counter: Counter[_K], n: int) -> Counter[_K]:
    return Counter({key: count * n for key, count in counter.items()})

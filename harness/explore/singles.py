"""Plan the singles of a protocol: which one is tried next, until each was hit or given up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from zlib import crc32

from onceproof.harness.explore.acts import Single, singles
from onceproof.harness.explore.points import PURPOSES, WINDOW, Passed, Protocol, place_of
from onceproof.harness.explore.trials import Aimed, Outcome, Trial, together

TRIES: Final = 5
"""Maximum number of trials of a single that is missed."""
_WINDOWS: Final = -1
"""Rank of a crash window, before all purposes."""


@dataclass(kw_only=True)
class Singles:
    """The singles of a protocol.

    Attributes:
        quiet: a trial without faults, from which places are taken.
        shard: (number from 1, of how many): the share that is tried here.
    """

    protocol: Protocol
    quiet: Sequence[Passed]
    shard: tuple[int, int] = (1, 1)
    hit: dict[Single, Outcome] = field(default_factory=dict, init=False)
    missed: dict[Single, str] = field(default_factory=dict, init=False)
    _open: dict[Single, int] = field(init=False)
    """Singles that are still to be tried, with the number of trials so far."""
    _seen: Counter[tuple[str, str]] = field(default_factory=Counter, init=False)

    def __post_init__(self) -> None:
        number, of = self.shard
        # By a hash, since machines may learn different points.
        self._open = {
            single: 0
            for single in singles(self.protocol.stable)
            if crc32(single.id.encode()) % of == number - 1
        }

    @property
    def left(self) -> int:
        return len(self._open)

    def next(self, count: int) -> list[Trial]:
        """Return at most `count` trials to make now; none if all singles are done.

        Crash windows come first, and commits, then combinations of API and act that were tried
        least, then cheap acts.
        """
        trials = (self._aimed(single) for single in sorted(self._open, key=self._rank))
        return together(trials)[:count]

    def take(self, single: Single, outcome: Outcome) -> None:
        """Note the outcome of a trial."""
        self._seen[single.point.api, single.act.name] += 1
        tried = self._open.get(single, 0) + 1
        if outcome.missed is None:
            self.hit[single] = outcome
        elif tried < TRIES:
            self._open[single] = tried
            return
        else:
            self.missed[single] = outcome.missed
        self._open.pop(single, None)

    def _aimed(self, single: Single) -> Trial:
        place = place_of(single.point, self.quiet)
        assert place is not None, "a stable point is in every quiet trial"
        return Trial(aimed=(Aimed(single=single, place=place),))

    def _rank(self, single: Single) -> tuple[int, int, int, int, str]:
        return (
            self._open[single],
            _WINDOWS if single.point.direction == WINDOW else PURPOSES.index(single.point.purpose),
            self._seen[single.point.api, single.act.name],
            single.act.cost,
            single.id,
        )

"""When micro-batches were planned and done, each by its query and its number.

Every query counts its own micro-batches from 0, so a number alone names one
only where no two queries have it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import pyarrow.compute as pc

from onceproof.reports.assembly.tables import Clock, History, table

Moments = Mapping[tuple[str, int], Mapping[str, float]]
"""Of each owner's micro-batch: the first time of each kind, `planned` and `done`, in seconds."""


def batch_moments(history: History, clock: Clock) -> Moments:
    """When each was planned and done, as far as positions tell."""
    times: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    positions = table(history, "positions")
    known = positions.filter(pc.is_valid(positions.column("batch")))
    for row in known.select(["owner", "batch", "kind", "at", "clock"]).to_pylist():
        at, seen = clock.seconds(row["at"], row["clock"]), times[row["owner"], row["batch"]]
        if at is not None:
            seen[row["kind"]] = min(at, seen.get(row["kind"], at))
    return dict(times)


class BatchTimes:
    """Asked by what a row says of its micro-batch, which may be its number alone."""

    def __init__(self, moments: Moments) -> None:
        self._of: dict[int, dict[str, Mapping[str, float]]] = defaultdict(dict)
        for (owner, batch), seen in moments.items():
            self._of[batch][owner] = seen

    def at(self, owner: object, batch: int, kind: str) -> float | None:
        """When it was planned or done; None where nobody knows, or it may be one of several."""
        those = self._of.get(batch, {})
        if owner is None and len(those) == 1:
            return next(iter(those.values())).get(kind)
        return those.get(str(owner), {}).get(kind)

"""When micro-batches were planned and done, by query and number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import pyarrow.compute as pc

from onceproof.reports.assembly.tables import Clock, History, table

Moments = Mapping[tuple[str, int], Mapping[str, float]]
"""(owner, batch) → kind (`planned` or `done`) → first time, in seconds."""


def batch_moments(history: History, clock: Clock) -> Moments:
    times: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    positions = table(history, "positions")
    known = positions.filter(pc.is_valid(positions.column("batch")))
    for row in known.select(["owner", "batch", "kind", "at", "clock"]).to_pylist():
        at, seen = clock.seconds(row["at"], row["clock"]), times[row["owner"], row["batch"]]
        if at is not None:
            seen[row["kind"]] = min(at, seen.get(row["kind"], at))
    return dict(times)


class BatchTimes:
    """Look up the times of micro-batches, also by number alone, which several queries may share."""

    def __init__(self, moments: Moments) -> None:
        self._of: dict[int, dict[str, Mapping[str, float]]] = defaultdict(dict)
        for (owner, batch), seen in moments.items():
            self._of[batch][owner] = seen

    def at(self, owner: object, batch: int, kind: str) -> float | None:
        """Return when a micro-batch was planned or done; None if that is unknown or ambiguous."""
        those = self._of.get(batch, {})
        if owner is None and len(those) == 1:
            return next(iter(those.values())).get(kind)
        return those.get(str(owner), {}).get(kind)

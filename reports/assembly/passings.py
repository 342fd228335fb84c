"""Which readers passed a place of the input, and when: stored positions and micro-batches.

After a reset to an earlier position a record is passed again. Each passing is reported, because
this is how records are processed twice.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from onceproof.reports.assembly.entries import Place
from onceproof.reports.assembly.tables import (
    Clock,
    History,
    collected_from,
    rows,
    short,
    short_or_none,
    table,
)
from onceproof.reports.model_story import Execution, PassedPosition

_HARNESS = "the harness"


@dataclass(frozen=True, kw_only=True)
class _Track:
    """The positions that one reader stored in one partition, in order."""

    rows: list[dict[str, Any]]
    before: pa.Array
    after: pa.Array

    def passing(self, offset: int) -> list[int]:
        """Return the indexes of the positions that moved past an offset."""
        mask = pc.and_(pc.less_equal(self.before, offset), pc.greater(self.after, offset))
        found: list[int] = pc.indices_nonzero(mask).to_pylist()
        return found


class PassedPositions:
    """Stored positions and micro-batches, by the places that they passed."""

    def __init__(self, history: History, clock: Clock) -> None:
        self._clock = clock
        self._collected_from = collected_from(history, clock)
        self._tracks = _tracks(history)
        self._ranges: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
        for row in rows(history, "ranges"):
            self._ranges[row["topic"], row["partition"]].append(row)

    def over(self, place: Place) -> list[PassedPosition]:
        """Return the stored positions that moved past a place, in order of time."""
        topic, partition, offset = place
        found = [
            self._passing(track, at)
            for track in self._tracks.get((topic, partition), ())
            for at in track.passing(offset)
        ]
        # One move is often recorded several times: as resume and as atomic, for each sink.
        distinct = {
            (p.owner, p.start, p.end, p.batch, p.at, p.instance): p for p in reversed(found)
        }
        return sorted(distinct.values(), key=lambda p: (p.at is None, p.at or 0.0))

    def executions(self, place: Place) -> list[Execution]:
        """Return the executions of micro-batches that contain a place."""
        topic, partition, offset = place
        found = [
            Execution(
                owner=short(row["owner"]),
                execution=short(row["execution"]),
                batch=row["batch"],
                topic=short(topic),
                partition=partition,
                start=row["start_offset"],
                end=row["end_offset"],
                committed=bool(row["committed"]),
            )
            for row in self._ranges.get((topic, partition), ())
            if row["start_offset"] <= offset < row["end_offset"]
        ]
        return sorted(found, key=lambda e: (e.owner, e.batch, e.committed))

    def _passing(self, track: _Track, at: int) -> PassedPosition:
        row = track.rows[at]
        by_harness = row["by"] == "harness"
        return PassedPosition(
            owner=short(row["owner"]),
            instance=_HARNESS if by_harness else short_or_none(row["instance"]),
            role=short(row["role"]),
            topic=short(row["topic"]),
            partition=row["partition"],
            start=track.before[at].as_py(),
            end=row["offset"],
            batch=row["batch"],
            at=self._time(row),
        )

    def _time(self, row: dict[str, Any]) -> float | None:
        if row["at"] is None or row["at"] >= self._collected_from:
            return None
        return self._clock.seconds(row["at"], row["clock"])


def _tracks(history: History) -> dict[tuple[str, int], list[_Track]]:
    positions = table(history, "positions")
    done = positions.filter(pc.equal(positions["kind"], "done"))
    grouped: dict[tuple[str, str, str, str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in done.to_pylist():
        key = (row["owner"], row["role"], row["sink"] or "", row["topic"], row["partition"])
        grouped[key].append(row)
    tracks: dict[tuple[str, int], list[_Track]] = defaultdict(list)
    for (*_, topic, partition), found in sorted(grouped.items()):
        found.sort(key=lambda row: row["ordinal"] or 0)
        after = [row["offset"] for row in found]
        track = _Track(
            rows=found,
            before=pa.array([0, *after[:-1]], pa.int64()),
            after=pa.array(after, pa.int64()),
        )
        tracks[topic, partition].append(track)
    return tracks

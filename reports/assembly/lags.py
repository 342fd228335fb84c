"""Compute each reader's lag over time, in records: acknowledged ones minus those it passed.

Records are counted and offsets never subtracted, because markers and aborted records leave gaps. A
stored position counts the records below it in the log.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from onceproof.reports.assembly.tables import Clock, History, collected_from, short, table
from onceproof.reports.model_timeline import CommitLane, LagLane

_READERS = 6


def lag_lanes(history: History, clock: Clock, *, end: float, width: float) -> tuple[LagLane, ...]:
    """Return a lane for each reader with stored positions; if there is none, for each observer."""
    bins = max(1, int(end / width) + 1)
    positions = _done(history, clock)
    behind = _by_positions(history, positions, clock, bins, width)
    by = "positions"
    if not behind:
        behind, by = _by_reads(history, clock, bins, width), "reads"
    return tuple(
        LagLane(owner=short(owner), behind=tuple(lag), by=by)
        for owner, lag in sorted(behind.items())[:_READERS]
    )


def commit_lanes(
    history: History, clock: Clock, *, end: float, width: float
) -> tuple[CommitLane, ...]:
    """Return how often each reader stored positions; those of one time are one commit."""
    bins = max(1, int(end / width) + 1)
    moments: dict[str, set[int]] = defaultdict(set)
    for row in _done(history, clock).select(["owner", "at"]).to_pylist():
        moments[row["owner"]].add(row["at"])
    lanes = []
    for owner, times in sorted(moments.items())[:_READERS]:
        counts = [0] * bins
        for at in times:
            counts[_bin(at, clock, bins, width)] += 1
        lanes.append(CommitLane(owner=short(owner), count=len(times), per_bin=tuple(counts)))
    return tuple(lanes)


def _done(history: History, clock: Clock) -> pa.Table:
    """Return the stored positions that were observed while the run lasted, not when collecting."""
    positions = table(history, "positions")
    mask = pc.and_kleene(
        pc.equal(positions["kind"], "done"), pc.equal(positions["clock"], clock.id)
    )
    mask = pc.and_kleene(mask, pc.is_valid(positions["at"]))
    mask = pc.and_kleene(mask, pc.greater_equal(positions["at"], clock.origin_ns))
    mask = pc.and_kleene(mask, pc.less(positions["at"], collected_from(history, clock)))
    return positions.filter(mask)


def _by_positions(
    history: History, positions: pa.Table, clock: Clock, bins: int, width: float
) -> dict[str, list[int]]:
    topics: dict[str, set[str]] = defaultdict(set)
    moved: dict[tuple[str, str, int], list[tuple[int, int, int]]] = defaultdict(list)
    columns = ["owner", "topic", "partition", "offset", "ordinal", "at"]
    for row in positions.select(columns).to_pylist():
        topics[row["owner"]].add(row["topic"])
        moved[row["owner"], row["topic"], row["partition"]].append(
            (row["at"], row["ordinal"] or 0, row["offset"])
        )
    if not moved:
        return {}
    log = _Log(history, {topic for found in topics.values() for topic in found})
    lanes = {}
    for owner, read in topics.items():
        passed = [0] * bins
        for (moved_by, topic, partition), found in moved.items():
            if moved_by == owner:
                for at, more in _steps(found, log.offsets(topic, partition)):
                    passed[_bin(at, clock, bins, width)] += more
        arrived = _arrived(history, read, clock, bins, width)
        lanes[owner] = _difference(arrived, passed)
    return lanes


def _by_reads(history: History, clock: Clock, bins: int, width: float) -> dict[str, list[int]]:
    reads = table(history, "reads")
    mask = pc.and_kleene(pc.equal(reads["clock"], clock.id), pc.is_valid(reads["record"]))
    reads = reads.filter(pc.and_kleene(mask, pc.greater_equal(reads["at"], clock.origin_ns)))
    lanes = {}
    for reader in sorted(pc.unique(reads["reader"]).to_pylist())[:_READERS]:
        mine = reads.filter(pc.equal(reads["reader"], reader))
        topics = set(pc.unique(mine["topic"]).to_pylist())
        read = _binned(mine["at"], clock, bins, width)
        # A read_committed consumer never gets records of aborted transactions.
        committed = "read_uncommitted" not in pc.unique(mine["isolation"]).to_pylist()
        aborted = _aborted(history) if committed else None
        lanes[reader] = _difference(_arrived(history, topics, clock, bins, width, aborted), read)
    return lanes


class _Log:
    def __init__(self, history: History, topics: Iterable[str]) -> None:
        log = table(history, "log").select(["topic", "partition", "offset", "kind"])
        wanted = pc.is_in(log["topic"], value_set=pa.array(sorted(topics), pa.string()))
        self._log = log.filter(pc.and_(wanted, pc.equal(log["kind"], "data")))
        self._known: dict[tuple[str, int], Sequence[int]] = {}

    def offsets(self, topic: str, partition: int) -> Sequence[int]:
        known = self._known.get((topic, partition))
        if known is None:
            mine = pc.and_(
                pc.equal(self._log["topic"], topic), pc.equal(self._log["partition"], partition)
            )
            known = _sorted(self._log.filter(mine)["offset"])
            self._known[topic, partition] = known
        return known


def _sorted(offsets: pa.ChunkedArray) -> Sequence[int]:
    """Sort offsets without converting them to a list: there may be millions."""
    whole = pa.concat_arrays(offsets.chunks) if offsets.num_chunks else pa.array([], pa.int64())
    ordered = whole.take(pc.array_sort_indices(whole))
    _, numbers = ordered.buffers()
    return memoryview(numbers).cast("q")[: len(ordered)] if len(ordered) else ()


def _steps(
    moved: Iterable[tuple[int, int, int]], offsets: Sequence[int]
) -> Iterable[tuple[int, int]]:
    """Yield (time, number of records newly passed) for the stored positions of one partition."""
    before = 0
    for at, _, offset in sorted(moved):
        now = bisect_left(offsets, offset)
        yield at, now - before
        before = now


def _aborted(history: History) -> pa.Array:
    txns = table(history, "txns")
    found = txns.filter(pc.equal(txns["outcome"], "aborted"))["txn"]
    return pa.array(found.to_pylist(), pa.string())


def _arrived(
    history: History,
    topics: set[str],
    clock: Clock,
    bins: int,
    width: float,
    excluded: pa.Array | None = None,
) -> list[int]:
    """Count the acknowledged sends into these topics by bin, except those of transactions `but`."""
    sends = table(history, "sends").select(["topic", "outcome", "returned_at", "clock", "txn"])
    if excluded is not None:
        sends = sends.filter(pc.invert(pc.is_in(sends["txn"], value_set=excluded)))
    mask = pc.and_kleene(pc.equal(sends["outcome"], "ok"), pc.equal(sends["clock"], clock.id))
    wanted = pc.is_in(sends["topic"], value_set=pa.array(sorted(topics), pa.string()))
    mask = pc.and_kleene(pc.and_kleene(mask, wanted), pc.is_valid(sends["returned_at"]))
    return _binned(sends.filter(mask)["returned_at"], clock, bins, width)


def _binned(times: Any, clock: Clock, bins: int, width: float) -> list[int]:
    counts = [0] * bins
    places = pc.divide(pc.subtract(times, clock.origin_ns), int(width * 1e9))
    for item in pc.value_counts(places).to_pylist():
        counts[min(max(item["values"], 0), bins - 1)] += item["counts"]
    return counts


def _bin(at: int, clock: Clock, bins: int, width: float) -> int:
    return min(max((at - clock.origin_ns) // int(width * 1e9), 0), bins - 1)


def _difference(arrived: Sequence[int], passed: Sequence[int]) -> list[int]:
    """Return the lag at the end of each bin: 0 where acknowledgements arrive after the read."""
    both = zip(accumulate(arrived), accumulate(passed), strict=True)
    return [max(sent - read, 0) for sent, read in both]

"""Acknowledged sends of each producer over time, and its outages.

A session is one process of a producer. Sessions of one producer are joined by the `instances`
table, else by the prefix of their names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from onceproof.reports.assembly.tables import Clock, History, short, table
from onceproof.reports.model_timeline import Life, ProducerLane, Span

_LANES, _OUTAGES = 12, 40
_SHORTEST_OUTAGE = 1.0


def producer_lanes(
    history: History, clock: Clock, *, end: float, width: float, lives: Mapping[str, list[Life]]
) -> tuple[ProducerLane, ...]:
    """Return a lane for each producer; if there are too many, the last one sums up the rest."""
    sends = table(history, "sends").select(["session", "outcome", "returned_at", "clock"])
    totals = sends.group_by(["session", "outcome"]).aggregate([([], "count_all")]).to_pylist()
    producers = _producers({row["session"] for row in totals}, lives)
    mask = pc.and_kleene(pc.equal(sends["outcome"], "ok"), pc.equal(sends["clock"], clock.id))
    acknowledged = sends.filter(pc.and_kleene(mask, pc.is_valid(sends["returned_at"])))
    names = sorted({*producers.values(), *lives})
    named, rest = (
        (names, []) if len(names) <= _LANES else (names[: _LANES - 1], names[_LANES - 1 :])
    )
    lanes = {name: name for name in named} | {name: f"{len(rest)} others" for name in rest}
    sessions: dict[str, list[str]] = defaultdict(list)
    for session, producer in producers.items():
        sessions[lanes[producer]].append(session)
    bins = max(1, int(end / width) + 1)

    def lane(name: str) -> ProducerLane:
        own = set(sessions.get(name, ()))
        counts = [row for row in totals if row["session"] in own]
        ok = sum(row["count_all"] for row in counts if row["outcome"] == "ok")
        times = _times(acknowledged, own, clock)
        return ProducerLane(
            producer=short(name),
            acknowledged=ok,
            unacknowledged=sum(row["count_all"] for row in counts) - ok,
            rate=_rate(times, bins, width),
            outages=_outages(times, max(_SHORTEST_OUTAGE, end * 0.015)),
            lives=tuple(lives.get(name, ())),
        )

    return tuple(lane(name) for name in dict.fromkeys(lanes.values()))


def _producers(sessions: set[str], lives: Mapping[str, list[Life]]) -> dict[str, str]:
    """Return the producer of each session."""
    instances = {life.instance: subject for subject, found in lives.items() for life in found}
    subjects = sorted(lives, key=len, reverse=True)

    def of(session: str) -> str:
        if session in instances:
            return instances[session]
        longer = (s for s in subjects if session == s or session.startswith((f"{s}/", f"{s}-")))
        return next(longer, session)

    return {session: of(session) for session in sessions}


def _times(acknowledged: pa.Table, sessions: set[str], clock: Clock) -> Any:
    """Return when these sessions' sends were acknowledged: ns since the run's start, sorted."""
    mine = pc.is_in(acknowledged["session"], value_set=pa.array(sorted(sessions), pa.string()))
    found = pc.subtract(acknowledged["returned_at"].filter(mine), clock.origin_ns)
    times = found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
    times = times.filter(pc.greater_equal(times, 0))
    return times.take(pc.array_sort_indices(times))


def _rate(times: Any, bins: int, width: float) -> tuple[float, ...]:
    counts = [0] * bins
    for item in pc.value_counts(pc.divide(times, int(width * 1e9))).to_pylist():
        counts[min(item["values"], bins - 1)] += item["counts"]
    return tuple(round(count / width, 1) for count in counts)


def _outages(times: Any, shortest: float) -> tuple[Span, ...]:
    """Return the longest gaps between two acknowledgements, in order of time."""
    if len(times) < 2:
        return ()
    gaps = pc.subtract(times[1:], times[:-1])
    places: Sequence[int] = pc.indices_nonzero(pc.greater(gaps, int(shortest * 1e9))).to_pylist()
    longest = sorted(sorted(places, key=lambda i: -gaps[i].as_py())[:_OUTAGES])
    return tuple(
        Span(start=round(times[i].as_py() / 1e9, 3), end=round(times[i + 1].as_py() / 1e9, 3))
        for i in longest
    )

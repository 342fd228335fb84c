"""Build the timeline: lanes on one axis, small whatever the size of the run.

The large table (`sends`) is only grouped and filtered as a whole, in `rates`: a million sends take
about a second and become a few hundred numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow.compute as pc

from onceproof.reports.assembly.batches import Moments
from onceproof.reports.assembly.lags import commit_lanes, lag_lanes
from onceproof.reports.assembly.rates import producer_lanes
from onceproof.reports.assembly.tables import Clock, History, rows, short, short_or_none, table
from onceproof.reports.assembly.transactions import transaction_lanes
from onceproof.reports.model import Fault, Findings, Phase
from onceproof.reports.model_timeline import (
    Batch,
    BatchLane,
    FaultSpan,
    InstanceLane,
    Life,
    Mark,
    Timeline,
)

_BINS = 360
_MARKS = 75
_STEPS = (0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)
_LANES, _LIVES, _BATCHES, _QUERIES, _KINDS, _FAULTS = 24, 60, 300, 4, 12, 60
_BROKER_ROLES = ("broker", "controller")


def timeline(
    history: History,
    clock: Clock,
    *,
    phases: Sequence[Phase],
    faults: Sequence[Fault],
    findings: Sequence[Findings],
    batches: Sequence[BatchLane],
) -> Timeline:
    lives = _lives(history, clock)
    hazards = _hazard_times(history, clock)
    found = [(group.anomaly, f.at) for group in findings for f in group.shown]
    found_at = [(kind, at) for kind, at in found if at is not None]
    ends: list[float] = [1.0]
    ends += [at for p in phases for at in (p.started_at, p.ended_at) if at is not None]
    ends += [at for f in faults for at in (f.injected_at, f.healed_at) if at is not None]
    ends += [at for ls in lives.values() for x in ls for at in (x.started_at, x.ended_at) if at]
    ends += [at for _, at in hazards] + [at for _, at in found_at]
    ends += [b.done_at for lane in batches for b in lane.batches if b.done_at is not None]
    if (last := pc.max(_sent_at(history, clock)).as_py()) is not None:
        ends.append(clock.seconds(last, clock.id) or 0.0)
    end = max(ends)
    width = bin_width(end)
    role = {subject: _role(subject) for subject in lives}

    def lanes(name: str) -> tuple[InstanceLane, ...]:
        subjects = sorted(s for s, r in role.items() if r == name)[:_LANES]
        return tuple(InstanceLane(subject=s, lives=tuple(lives[s][:_LIVES])) for s in subjects)

    return Timeline(
        end=round(end, 3),
        bin_seconds=width,
        producers=producer_lanes(
            history,
            clock,
            end=end,
            width=width,
            lives={s: lives[s][:_LIVES] for s, r in role.items() if r == "producer"},
        ),
        brokers=lanes("broker"),
        pipeline=lanes("pipeline"),
        batches=tuple(batches),
        lags=lag_lanes(history, clock, end=end, width=width),
        commits=commit_lanes(history, clock, end=end, width=width),
        transactions=transaction_lanes(history, clock, end=end),
        faults=_fault_spans(faults),
        hazards=_marks(hazards, end),
        findings=_marks(found_at, end),
        findings_without_time=len(found) - len(found_at),
    )


def batch_lanes(history: History, times: Moments) -> tuple[BatchLane, ...]:
    """Return the micro-batches of each query: when planned, when done, how often executed."""
    executions: dict[tuple[str, int], set[str]] = defaultdict(set)
    for row in rows(history, "ranges"):
        executions[row["owner"], row["batch"]].add(row["execution"])
    lanes: dict[str, list[Batch]] = defaultdict(list)
    for owner, batch in sorted(times.keys() | executions.keys()):
        seen, executed = times.get((owner, batch), {}), executions.get((owner, batch))
        drawn = Batch(
            batch=batch,
            planned_at=seen.get("planned"),
            done_at=seen.get("done"),
            executions=len(executed) if executed else None,
        )
        lanes[owner].append(drawn)
    return tuple(
        BatchLane(owner=short(owner), count=len(found), batches=_thinned(found))
        for owner, found in list(lanes.items())[:_QUERIES]
    )


def bin_width(end: float) -> float:
    """Return a round width that gives at most `_BINS` bins."""
    return next((float(s) for s in _STEPS if end / s <= _BINS), round(end / _BINS, 3))


def _thinned(found: Sequence[Batch]) -> tuple[Batch, ...]:
    """Thin out evenly, but keep micro-batches that were executed more than once."""
    step = -(-len(found) // _BATCHES)
    repeated = [batch for batch in found if (batch.executions or 0) > 1][:_BATCHES]
    kept = {batch.batch: batch for batch in [*found[::step], *repeated]} if found else {}
    return tuple(kept[number] for number in sorted(kept))


def _lives(history: History, clock: Clock) -> dict[str, list[Life]]:
    lives: dict[str, list[Life]] = defaultdict(list)
    for row in rows(history, "instances"):
        started = clock.seconds(row["started_at"], row["clock"])
        if started is None:
            continue
        lives[short(row["subject"])].append(
            Life(
                instance=short(row["instance"]),
                started_at=started,
                ended_at=clock.seconds(row["ended_at"], row["clock"]),
                how=short_or_none(row["how"]),
            )
        )
    for found in lives.values():
        found.sort(key=lambda life: life.started_at)
    return dict(lives)


def _role(subject: str) -> str:
    if subject.startswith(_BROKER_ROLES):
        return "broker"
    return "producer" if subject.startswith("producer") else "pipeline"


def _sent_at(history: History, clock: Clock) -> Any:
    sends = table(history, "sends")
    return sends.filter(pc.equal(sends.column("clock"), clock.id)).column("returned_at")


def _hazard_times(history: History, clock: Clock) -> list[tuple[str, float]]:
    found = table(history, "hazards").select(["hazard", "at", "clock"]).to_pylist()
    times = ((short(row["hazard"]), clock.seconds(row["at"], row["clock"])) for row in found)
    return [(kind, at) for kind, at in times if at is not None]


def _fault_spans(faults: Sequence[Fault]) -> tuple[FaultSpan, ...]:
    return tuple(
        FaultSpan(
            fault=f.fault,
            kind=f.kind,
            start=f.injected_at,
            end=f.healed_at,
            took_effect=f.took_effect,
        )
        for f in faults
        if f.injected_at is not None
    )[:_FAULTS]


def _marks(times: Iterable[tuple[str, float]], end: float) -> tuple[Mark, ...]:
    """Join marks that are too close to be distinguished."""
    apart = max(end / _MARKS, 0.001)
    by_kind: dict[str, list[float]] = defaultdict(list)
    for kind, at in times:
        by_kind[kind].append(at)
    common = sorted(by_kind, key=lambda kind: -len(by_kind[kind]))[:_KINDS]
    marks = []
    for kind in sorted(common):
        close: list[float] = []
        for at in [*sorted(by_kind[kind]), float("inf")]:
            if close and at - close[0] > apart:
                mean = round(sum(close) / len(close), 3)
                marks.append(Mark(kind=kind, at=mean, count=len(close)))
                close = []
            close.append(at)
    return tuple(marks)

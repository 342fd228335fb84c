"""Lay out the timeline: the position of each bar, curve and mark, in pixels.

`templates/timeline.svg.j2` draws it and chooses colours. Lanes are stacked in the order of
`drawing`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onceproof.reports.html.lanes import (
    bands,
    commit_ticks,
    fault_boxes,
    lag_curve,
    life_boxes,
    producer_curve,
    transaction_boxes,
)
from onceproof.reports.html.shapes import PLOT, Axis, Band, Box, Curve, Lane, Point
from onceproof.reports.model import Report
from onceproof.reports.model_timeline import BatchLane, Mark, Timeline
from onceproof.reports.text import cut, line, number, plural, seconds

_HEAD = 44
_LIFE, _CURVE, _BATCH, _MARK, _FAULT, _SPACE = 26, 58, 30, 34, 20, 10
_NAME = 19


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """The layout of the timeline."""

    width: int
    height: int
    says: str
    axis: Axis
    phases: tuple[Band, ...]
    lanes: tuple[Lane, ...]
    shades: tuple[Box, ...]
    faults: tuple[Box, ...]
    curves: tuple[Curve, ...]
    lags: tuple[Curve, ...]
    transactions: tuple[Box, ...]
    commits: tuple[str, ...]
    lives: tuple[Box, ...]
    ends: tuple[Point, ...]
    batches: tuple[Box, ...]
    hazards: tuple[Point, ...]
    findings: tuple[Point, ...]


Stories = Mapping[str, Sequence[tuple[float, int]]]
"""By anomaly: the time of each finding and the number of its story."""


def drawing(report: Report, stories: Stories) -> Drawing:
    """Lay out a report's timeline, with findings linked to their stories."""
    timeline, axis = report.timeline, Axis(end=report.timeline.end)
    stack = _Stack(top=_HEAD)
    faults: list[Box] = []
    if timeline.faults:
        rows, boxes = fault_boxes(axis, report.faults, timeline.faults, stack.top + 4, _FAULT)
        faults = boxes
        stack.lane("faults", plural(len(timeline.faults), "fault"), rows * _FAULT + 4)
        stack.space()
    body = stack.top
    curves = [
        producer_curve(
            axis,
            lane,
            timeline.bin_seconds,
            stack.lane(lane.producer, f"{number(lane.acknowledged)} acknowledged", _CURVE),
            _CURVE,
        )
        for lane in timeline.producers
    ]
    stack.space(bool(curves))
    lags = [
        lag_curve(
            axis,
            lag,
            timeline.bin_seconds,
            stack.lane(f"lag of {lag.owner}", "records behind", _CURVE),
            _CURVE,
        )
        for lag in timeline.lags
    ]
    stack.space(bool(lags))
    lives: list[Box] = []
    ends: list[Point] = []
    for lanes in (timeline.brokers, timeline.pipeline):
        for lane in lanes:
            top = stack.lane(lane.subject, plural(len(lane.lives), "instance"), _LIFE)
            more, ended = life_boxes(axis, lane, top, _LIFE)
            lives += more
            ends += ended
        stack.space(bool(lanes))
    transactions: list[Box] = []
    for txns in timeline.transactions:
        says = f"{plural(txns.count, 'transaction')}, {number(txns.not_committed)} not committed"
        top = stack.lane(f"tx {txns.transactional_id}", says, _BATCH)
        transactions += transaction_boxes(axis, txns, top, _BATCH)
    stack.space(bool(transactions))
    batches: list[Box] = []
    for queue in timeline.batches:
        named = "micro-batches" if len(timeline.batches) == 1 else queue.owner
        says = plural(queue.count, "micro-batch", "micro-batches")
        batches += _batches(axis, queue, stack.lane(named, says, _BATCH))
    stack.space(bool(batches))
    commits = [
        commit_ticks(
            axis,
            stored,
            timeline.bin_seconds,
            stack.lane(f"commits {stored.owner}", f"{number(stored.count)} times", _BATCH),
            _BATCH,
        )
        for stored in timeline.commits
    ]
    stack.space(bool(commits))
    hazards = _marks(axis, timeline.hazards, stack, {}, {})
    stack.space(bool(hazards))
    # Only findings listed in the report are drawn, but all are counted.
    counted = {group.anomaly: group.count for group in report.findings}
    findings = _marks(axis, timeline.findings, stack, counted, stories)
    height = stack.top + 8
    return Drawing(
        width=PLOT,
        height=height,
        says=_description(report, timeline),
        axis=axis,
        phases=bands(axis, report.phases),
        lanes=tuple(stack.lanes),
        shades=tuple(
            Box(x=b.x, y=body, width=b.width, height=height - body, kind=b.kind) for b in faults
        ),
        faults=tuple(faults),
        curves=tuple(curves),
        lags=tuple(lags),
        transactions=tuple(transactions),
        commits=tuple(commits),
        lives=tuple(lives),
        ends=tuple(ends),
        batches=tuple(batches),
        hazards=hazards,
        findings=findings,
    )


@dataclass(kw_only=True)
class _Stack:
    top: int

    def __post_init__(self) -> None:
        self.lanes: list[Lane] = []

    def lane(self, name: str, says: str, height: int) -> int:
        """Add a lane, and return its top."""
        top = self.top
        self.lanes.append(Lane(name=_cut_name(name), says=says, y=top, height=height))
        self.top += height
        return top

    def space(self, wanted: bool = True) -> None:
        self.top += _SPACE if wanted else 0


def _cut_name(name: str) -> str:
    name = line(name)
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


def _batches(axis: Axis, lane: BatchLane, top: int) -> list[Box]:
    boxes = []
    for batch in lane.batches:
        start, end = batch.planned_at, batch.done_at
        at = start if start is not None else end
        if at is None:
            continue
        x, repeated = axis.x(at), (batch.executions or 0) > 1
        real = max(axis.x(end if end is not None else at) - x - 1, 0)
        width = max(real, 2)
        often = f", executed {batch.executions} times" if repeated else ""
        done = "end not recorded" if end is None else f"done at {seconds(end)}"
        boxes.append(
            Box(
                x=x,
                y=top + 9,
                width=round(width, 2),
                real=round(real, 2) if real < width else None,
                height=12,
                kind="open" if end is None else "repeated" if repeated else "done",
                text=f"×{batch.executions}" if repeated else "",
                says=f"micro-batch {batch.batch}: {done}{often}",
            )
        )
    return boxes


def _marks(
    axis: Axis,
    marks: tuple[Mark, ...],
    stack: _Stack,
    counted: Mapping[str, int],
    stories: Stories,
) -> tuple[Point, ...]:
    points = []
    for kind in dict.fromkeys(mark.kind for mark in marks):
        mine = [mark for mark in marks if mark.kind == kind]
        total = counted.get(kind, sum(mark.count for mark in mine))
        top = stack.lane(kind, number(total), _MARK)
        linked = stories.get(kind, ())
        behind = [*(axis.x(mark.at) for mark in mine[1:]), float(PLOT)]
        for mark, following in zip(mine, behind, strict=True):
            x = axis.x(mark.at)
            count = f"×{mark.count}" if mark.count > 1 else ""
            many = f", {mark.count} of them" if mark.count > 1 else ""
            nearest = min(((abs(at - mark.at), story) for at, story in linked), default=None)
            points.append(
                Point(
                    x=x,
                    y=top + _MARK // 2,
                    text=count,
                    # The next mark must not cover the count.
                    fits=following - x >= 18 + 7 * len(count),
                    says=f"{kind} at {seconds(mark.at)}{many}",
                    story=nearest[1] if nearest else None,
                )
            )
    return tuple(points)


def _description(report: Report, timeline: Timeline) -> str:
    parts = [
        f"{seconds(timeline.end)} from left to right",
        plural(len(timeline.producers), "producer"),
        plural(len(timeline.brokers), "broker"),
        plural(len(timeline.faults), "fault"),
        plural(sum(mark.count for mark in timeline.hazards), "hazard"),
        plural(sum(group.count for group in report.findings), "finding"),
    ]
    return cut(", ".join(parts), 300) + ". A text version follows below."

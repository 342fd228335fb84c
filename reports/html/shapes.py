"""The shapes of the time line's picture, and how single lanes become shapes.

The one thing to know: an `Axis` is the only way from seconds to pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from reports.model import Fault, Phase
from reports.model_timeline import FaultSpan, InstanceLane, ProducerLane
from reports.text import number, seconds

PLOT = 936
_MARGIN = 8
_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600)
KINDS = ("crash", "partition", "timeout")


@dataclass(frozen=True, kw_only=True)
class Axis:
    """From seconds to pixels."""

    end: float

    def x(self, at: float) -> float:
        """Where a moment stands."""
        inside = min(max(at, 0.0), self.end)
        return round(_MARGIN + inside / self.end * (PLOT - 2 * _MARGIN), 1)

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Round moments: where they stand and what is written there."""
        step = next((s for s in _STEPS if self.end / s <= 12), self.end / 10)
        many = int(self.end / step) + 1
        # The last label must not run out of the picture.
        return tuple(
            (self.x(i * step), f"{i * step:g} s")
            for i in range(many)
            if self.x(i * step) <= PLOT - 30
        )


@dataclass(frozen=True, kw_only=True)
class Lane:
    """The name beside a lane, and what is said below it where there is room."""

    name: str
    says: str
    y: int
    height: int

    @property
    def two_lines(self) -> bool:
        """Whether there is room for what it says."""
        return self.height > 30


@dataclass(frozen=True, kw_only=True)
class Band:
    """A phase on the axis."""

    x: float
    width: float
    text: str
    even: bool
    says: str


@dataclass(frozen=True, kw_only=True)
class Box:
    """A bar; `text` is written in it."""

    x: float
    y: float
    width: float
    height: float
    kind: str = ""
    text: str = ""
    says: str = ""
    dim: bool = False


@dataclass(frozen=True, kw_only=True)
class Point:
    """A mark; `text` is written beside it."""

    x: float
    y: float
    text: str = ""
    says: str = ""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """The throughput of one producer."""

    line: str
    area: str
    base: float
    top: float
    peak: str
    peak_x: float
    outages: tuple[Box, ...] = field(default=())
    ends: tuple[Point, ...] = field(default=())


def bands(axis: Axis, phases: Sequence[Phase]) -> tuple[Band, ...]:
    """The phases as bands; a name only where it fits."""
    found = []
    known = [p for p in phases if p.started_at is not None]
    for place, phase in enumerate(known):
        start = phase.started_at or 0.0
        end = axis.end if phase.ended_at is None else phase.ended_at
        x, width = axis.x(start), round(axis.x(end) - axis.x(start), 1)
        fits = width > 6.2 * len(phase.phase) + 6
        outcome = phase.outcome or "its end is not known"
        found.append(
            Band(
                x=x,
                width=max(width, 0.5),
                text=phase.phase if fits else "",
                even=place % 2 == 0,
                says=f"{phase.phase}, {seconds(end - start)}: {outcome}",
            )
        )
    return tuple(found)


def fault_boxes(
    axis: Axis, faults: Sequence[Fault], spans: Sequence[FaultSpan], top: int, height: int
) -> tuple[int, list[Box]]:
    """Bars from injected to healed, in as few rows as do not overlap; how many rows, and bars."""
    numbers = {fault.fault: i for i, fault in enumerate(faults, 1)}
    rows: list[float] = []
    boxes = []
    for span in sorted(spans, key=lambda s: s.start):
        x = axis.x(span.start)
        width = max(axis.x(axis.end if span.end is None else span.end) - x, 4)
        taken = x + max(width, 26) + 3  # the label must fit beside a short bar
        row = next((i for i, free in enumerate(rows) if free <= x), len(rows))
        rows[row : row + 1] = [taken]
        until = "never seen to be healed" if span.end is None else f"healed at {seconds(span.end)}"
        bit = "" if span.bit else ", left no evidence"
        label = f"F{numbers.get(span.fault, '?')}"
        boxes.append(
            Box(
                x=x,
                y=top + row * height,
                width=round(width, 1),
                height=height - 5,
                kind=span.kind if span.kind in KINDS else "other",
                text=label,
                says=f"{label} {span.fault} ({span.kind}), "
                f"injected at {seconds(span.start)}, {until}{bit}",
                dim=not span.bit,
            )
        )
    return max(1, len(rows)), boxes


def life_boxes(
    axis: Axis, lane: InstanceLane, top: int, height: int
) -> tuple[list[Box], list[Point]]:
    """The lives of one process as bars, and a mark at each end that is known."""
    boxes, ends = [], []
    for life in lane.lives:
        x = axis.x(life.started_at)
        end = axis.end if life.ended_at is None else life.ended_at
        width = round(max(axis.x(end) - x, 2), 1)
        how = f", {life.how}" if life.how else ""
        until = "" if life.ended_at is None else f" to {seconds(life.ended_at)}{how}"
        says = f"{life.instance}: from {seconds(life.started_at)}{until}"
        text = life.instance if width > 6.5 * len(life.instance) + 12 else ""
        boxes.append(Box(x=x, y=top + 6, width=width, height=height - 11, text=text, says=says))
        if life.ended_at is not None:
            ends.append(Point(x=axis.x(end), y=top + 6 + (height - 11) / 2, says=says))
    return boxes, ends


def producer_curve(
    axis: Axis, lane: ProducerLane, bin_seconds: float, top: int, height: int
) -> Curve:
    """The throughput as a stepped curve over its own zero line."""
    base, ceiling = top + height - 8.0, top + 14.0
    peak = max(lane.rate, default=0.0)
    full = _full_scale(lane.rate)
    points: list[str] = []
    y_last = None
    for place, rate in enumerate(lane.rate):
        y = round(base - (min(rate / full, 1.0) if full else 0.0) * (base - ceiling), 1)
        if y != y_last:
            points.append(f"H{axis.x(place * bin_seconds)}V{y}" if points else f"V{y}")
        y_last = y
    start, end = axis.x(0), axis.x(len(lane.rate) * bin_seconds)
    path = f"M{start} {base}" + "".join(points) + f"H{end}"
    outages = tuple(
        Box(
            x=axis.x(o.start),
            y=base + 1.5,
            width=round(max(axis.x(o.end) - axis.x(o.start), 1), 1),
            height=4,
            says=f"nothing acknowledged for {seconds(o.end - o.start)}",
        )
        for o in lane.outages
    )
    ends = tuple(
        Point(x=axis.x(life.ended_at), y=base, says=f"{life.instance} ended: {life.how or ''}")
        for life in lane.lives
        if life.ended_at is not None and life.ended_at < axis.end * 0.995
    )
    return Curve(
        line=path,
        area=f"{path}V{base}H{start}Z",
        base=base,
        top=ceiling,
        peak=_peak_words(peak, full),
        peak_x=start,
        outages=outages,
        ends=ends,
    )


def _full_scale(rates: Sequence[float]) -> float:
    """The rate that fills the lane. The backlog that goes out after an outage is often many times
    the usual rate; drawn to scale, it would press everything else flat.
    """
    busy = sorted(rate for rate in rates if rate > 0)
    if not busy:
        return 0.0
    return min(busy[-1], 2.2 * busy[len(busy) // 2])


def _peak_words(peak: float, full: float) -> str:
    if not peak:
        return "nothing acknowledged"
    said = f"peak {number(round(peak))}/s"
    return said if full >= peak else f"{said}, cut off at {number(round(full))}/s"

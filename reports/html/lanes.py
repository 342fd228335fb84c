"""Turn single lanes of the timeline into shapes.

What is too short to be visible is drawn wider. Its true width is in `real`, for the page's script
to use when zoomed in.
"""

from __future__ import annotations

from collections.abc import Sequence

from onceproof.reports.html.shapes import Axis, Band, Box, Curve, Point
from onceproof.reports.model import Fault, Phase
from onceproof.reports.model_timeline import (
    CommitLane,
    FaultSpan,
    InstanceLane,
    LagLane,
    ProducerLane,
    TransactionLane,
)
from onceproof.reports.text import number, seconds

KINDS = ("crash", "partition", "timeout")


def bands(axis: Axis, phases: Sequence[Phase]) -> tuple[Band, ...]:
    """Return the phases as bands; only those wide enough show their name."""
    found = []
    known = [p for p in phases if p.started_at is not None]
    for place, phase in enumerate(known):
        start = phase.started_at or 0.0
        end = axis.end if phase.ended_at is None else phase.ended_at
        x, width = axis.x(start), round(axis.x(end) - axis.x(start), 1)
        fits = width > 6.2 * len(phase.phase) + 6
        outcome = phase.outcome or "end not recorded"
        found.append(
            Band(
                x=x,
                width=max(width, 0.5),
                text=phase.phase,
                fits=fits,
                even=place % 2 == 0,
                says=f"{phase.phase}, {seconds(end - start)}: {outcome}",
            )
        )
    return tuple(found)


def fault_boxes(
    axis: Axis, faults: Sequence[Fault], spans: Sequence[FaultSpan], top: int, height: int
) -> tuple[int, list[Box]]:
    """Return the number of rows, and a bar per fault from injected to healed, without overlaps."""
    numbers = {fault.fault: i for i, fault in enumerate(faults, 1)}
    rows: list[float] = []
    boxes = []
    for span in sorted(spans, key=lambda s: s.start):
        x = axis.x(span.start)
        real = axis.x(axis.end if span.end is None else span.end) - x
        width = max(real, 4)
        taken = x + max(width, 26) + 3  # the label must fit beside a short bar
        row = next((i for i, free in enumerate(rows) if free <= x), len(rows))
        rows[row : row + 1] = [taken]
        until = "healing not recorded" if span.end is None else f"healed at {seconds(span.end)}"
        note = "" if span.took_effect else ", left no evidence"
        label = f"F{numbers.get(span.fault, '?')}"
        boxes.append(
            Box(
                x=x,
                y=top + row * height,
                width=round(width, 2),
                real=_real(real, width),
                height=height - 5,
                kind=span.kind if span.kind in KINDS else "other",
                text=label,
                says=f"{label} {span.fault} ({span.kind}), "
                f"injected at {seconds(span.start)}, {until}{note}",
                dim=not span.took_effect,
            )
        )
    return max(1, len(rows)), boxes


def life_boxes(
    axis: Axis, lane: InstanceLane, top: int, height: int
) -> tuple[list[Box], list[Point]]:
    """Return a process's lifetimes as bars, and a mark at each known end."""
    boxes, ends = [], []
    for life in lane.lives:
        x = axis.x(life.started_at)
        end = axis.end if life.ended_at is None else life.ended_at
        width = round(max(axis.x(end) - x, 2), 2)
        how = f", {life.how}" if life.how else ""
        until = "" if life.ended_at is None else f" to {seconds(life.ended_at)}{how}"
        says = f"{life.instance}: from {seconds(life.started_at)}{until}"
        boxes.append(
            Box(
                x=x,
                y=top + 6,
                width=width,
                real=_real(axis.x(end) - x, width),
                height=height - 11,
                text=life.instance,
                fits=width > 6.5 * len(life.instance) + 12,
                says=says,
            )
        )
        if life.ended_at is not None:
            ends.append(Point(x=axis.x(end), y=top + 6 + (height - 11) / 2, says=says))
    return boxes, ends


def producer_curve(
    axis: Axis, lane: ProducerLane, bin_seconds: float, top: int, height: int
) -> Curve:
    """Return the throughput as a stepped curve."""
    base, ceiling = top + height - 8.0, top + 14.0
    # The backlog sent after an outage is often many times the usual rate. At full scale it would
    # flatten everything else.
    full = _full_scale(lane.rate)
    path, area = _stepped(axis, lane.rate, full, bin_seconds, base, ceiling)
    start = axis.x(0)
    outages = tuple(
        Box(
            x=axis.x(o.start),
            y=base + 1.5,
            width=round(max(axis.x(o.end) - axis.x(o.start), 1), 2),
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
        area=area,
        base=base,
        top=ceiling,
        peak=_peak_label(max(lane.rate, default=0.0), full),
        peak_x=start,
        full=f"{number(round(full))}/s" if full else "",
        outages=outages,
        ends=ends,
    )


def lag_curve(axis: Axis, lane: LagLane, bin_seconds: float, top: int, height: int) -> Curve:
    """Return the lag as a stepped curve, at full scale."""
    base, ceiling = top + height - 8.0, top + 14.0
    most = max(lane.behind, default=0)
    path, area = _stepped(axis, lane.behind, most, bin_seconds, base, ceiling)
    return Curve(
        line=path,
        area=area,
        base=base,
        top=ceiling,
        peak=f"at most {number(most)} behind" if most else "never behind",
        peak_x=axis.x(0),
        full=number(most) if most else "",
        kind="lag",
    )


def commit_ticks(axis: Axis, lane: CommitLane, bin_seconds: float, top: int, height: int) -> str:
    """Return a stroke for each bin in which positions were stored; its length shows how often."""
    most, base = max(lane.per_bin, default=0), top + height - 6.0
    strokes = []
    for place, count in enumerate(lane.per_bin):
        if count:
            length = 4 + (height - 14) * count / most
            strokes.append(f"M{axis.x((place + 0.5) * bin_seconds)} {base}v{-length:.1f}")
    return "".join(strokes)


def transaction_boxes(axis: Axis, lane: TransactionLane, top: int, height: int) -> list[Box]:
    """Return a transactional id's transactions as bars, uncommitted ones on top."""
    boxes = []
    for span in sorted(lane.spans, key=lambda s: s.outcome != "committed"):
        x = axis.x(span.start)
        real = axis.x(axis.end if span.end is None else span.end) - x
        many = f"{number(span.count)} transactions" if span.count > 1 else "transaction"
        until = "end not recorded" if span.end is None else f"to {seconds(span.end)}"
        known = span.outcome in ("committed", "aborted")
        boxes.append(
            Box(
                x=x,
                y=top + 8,
                width=round(max(real, 1.5), 2),
                real=_real(real, 1.5),
                height=height - 15,
                kind=span.outcome if known else "info",
                says=f"{many} of {lane.transactional_id}, {span.outcome}: "
                f"from {seconds(span.start)}, {until}",
            )
        )
    return boxes


def _stepped(
    axis: Axis,
    values: Sequence[float],
    full: float,
    bin_seconds: float,
    base: float,
    ceiling: float,
) -> tuple[str, str]:
    """Return a stepped curve over its own zero line, and the area below it."""
    points: list[str] = []
    y_last = None
    for place, value in enumerate(values):
        y = round(base - (min(value / full, 1.0) if full else 0.0) * (base - ceiling), 1)
        if y != y_last:
            points.append(f"H{axis.x(place * bin_seconds)}V{y}" if points else f"V{y}")
        y_last = y
    start, end = axis.x(0), axis.x(len(values) * bin_seconds)
    path = f"M{start} {base}" + "".join(points) + f"H{end}"
    return path, f"{path}V{base}H{start}Z"


def _real(real: float, drawn: float) -> float | None:
    """Return the true width; None if it is the drawn one."""
    return round(real, 2) if real < drawn else None


def _full_scale(rates: Sequence[float]) -> float:
    """Return the rate that fills the lane: at most 1.6 times the 90th percentile of busy bins."""
    busy = sorted(rate for rate in rates if rate > 0)
    if not busy:
        return 0.0
    return min(busy[-1], 1.6 * busy[len(busy) * 9 // 10])


def _peak_label(peak: float, full: float) -> str:
    if not peak:
        return "nothing acknowledged"
    text = f"peak {number(round(peak))}/s"
    return text if full >= peak else f"{text}, cut off at {number(round(full))}/s"

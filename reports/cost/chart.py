"""Draw latencies by percentile, and costs over a setting."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from onceproof.reports.anomalies.svg import document, element, num, path, words
from onceproof.reports.cost.model import ComparisonPart, EstimatePart, WayPart
from onceproof.reports.cost.series import Point, Series

WIDTH: Final = 640.0
_SMALL: Final = 440.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 16.0, 12.0, 44.0
_HEIGHT: Final = 300.0
_LINE: Final = 18.0
_MARKS: Final = (0.0, 50.0, 90.0, 99.0, 99.9, 99.99)
_NICE: Final = (1, 2, 5)


@dataclass(frozen=True, kw_only=True)
class _Scale:
    """A logarithmic scale of seconds."""

    low: float
    high: float

    def y(self, seconds: float) -> float:
        span = math.log(self.high / self.low)
        part = math.log(max(seconds, self.low) / self.low) / span
        return _HEIGHT - _BOTTOM - part * (_HEIGHT - _TOP - _BOTTOM)

    def ticks(self) -> Iterator[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        for power in range(first, last + 1):
            for step in _NICE:
                if self.low <= (tick := step * 10.0**power) <= self.high * 1.0001:
                    yield tick


def curves(found: ComparisonPart, share: float) -> Markup:
    """Draw the latencies of all ways at one load."""
    drawn = [(way, points) for way in found.ways if (points := _points(way, share))]
    seconds = [s for _, points in drawn for _, s in points if s > 0]
    scale = _scale(seconds)
    name = f"{found.name}-{share * 100:g}"
    inside: list[str] = [*_level_lines(scale)]
    for mark in _MARKS:
        x = _x(mark)
        inside += [
            path(f"M{num(x)} {num(_TOP)}V{num(_HEIGHT - _BOTTOM)}", "grid"),
            words(x, _HEIGHT - _BOTTOM + 18, f"{mark:g} %", "tick", text_anchor="middle"),
        ]
    inside.append(words((_LEFT + WIDTH) / 2, _HEIGHT - 6, "records", "axis", text_anchor="middle"))
    for number, (way, points) in enumerate(drawn):
        line = "L".join(f"{num(_x(percent))} {num(scale.y(s))}" for percent, s in points)
        inside.append(path(f"M{line}", f"curve c{number % 6}"))
        y = _HEIGHT + _LINE * (number + 1)
        inside += [
            path(f"M{num(_LEFT)} {num(y - 4)}h28", f"curve c{number % 6}"),
            words(_LEFT + 36, y, _told(way.name, points), "key"),
        ]
    says = "; ".join(_told(way.name, points) for way, points in drawn)
    size = (WIDTH, _HEIGHT + _LINE * len(drawn) + 8)
    return document(f"curve-{name}", f"Latencies at {share:.0%} load", says, size, *inside)


def over_setting(series: Series, number: int) -> Markup:
    """Draw the cost for each value of a setting, with its intervals."""
    told = [point.estimate for point in series.points if point.estimate is not None]
    low = min([e.low for e in told] + [1.0 if series.unit == "ratio" else 0.0])
    high = max([e.high for e in told] + [1.0 if series.unit == "ratio" else 0.001])
    inner = _HEIGHT - _TOP - _BOTTOM
    spread = high - low or 1.0

    def y(value: float) -> float:
        return _HEIGHT - _BOTTOM - (value - low) / spread * inner

    inside: list[str] = []
    for part in range(5):
        at = low + spread * part / 4
        text = f"× {at:.2f}" if series.unit == "ratio" else f"{at * 1e3:.0f} ms"
        inside += [
            path(f"M{num(_LEFT)} {num(y(at))}H{num(_SMALL - _RIGHT)}", "grid"),
            words(_LEFT - 8, y(at) + 4, text, "tick", text_anchor="end"),
        ]
    step = (_SMALL - _LEFT - _RIGHT) / len(series.points)
    for place, point in enumerate(series.points):
        x = _LEFT + step * (place + 0.5)
        inside.append(words(x, _HEIGHT - _BOTTOM + 18, point.label, "tick", text_anchor="middle"))
        if point.estimate is None:
            inside.append(words(x, _HEIGHT / 2, "not resolved", "key", text_anchor="middle"))
        else:
            inside += _bar(point.estimate, x, y)
    inside.append(
        words((_LEFT + _SMALL) / 2, _HEIGHT - 6, series.setting, "axis", text_anchor="middle")
    )
    says = "; ".join(_said(point, series) for point in series.points)
    return document(f"series-{number}", series.title, says, (_SMALL, _HEIGHT), *inside)


def _bar(found: EstimatePart, x: float, y: Callable[[float], float]) -> list[str]:
    low, high, middle = y(found.low), y(found.high), y(found.value)
    return [
        path(f"M{num(x)} {num(low)}V{num(high)}M{num(x - 8)} {num(low)}h16"
             f"M{num(x - 8)} {num(high)}h16", "curve c0"),
        element("circle", cx=x, cy=middle, r=4.5, class_="dot"),
    ]  # fmt: skip


def _said(point: Point, series: Series) -> str:
    if point.estimate is None:
        return f"{point.label}: not resolved"
    if series.unit == "ratio":
        return f"{point.label}: × {point.estimate.low:.2f} to {point.estimate.high:.2f}"
    return f"{point.label}: {point.estimate.low * 1e3:.1f} to {point.estimate.high * 1e3:.1f} ms"


def _points(way: WayPart, share: float) -> tuple[tuple[float, float], ...]:
    return next((curve.percentiles for curve in way.curves if curve.share == share), ())


def _told(name: str, points: Sequence[tuple[float, float]]) -> str:
    known = dict(points)
    parts = [f"{p:g} % within {known[p] * 1e3:.1f} ms" for p in (50.0, 99.0) if p in known]
    return f"{name}: {', '.join(parts)}"


def _scale(seconds: Sequence[float]) -> _Scale:
    low, high = min(seconds, default=0.001), max(seconds, default=0.01)
    return _Scale(low=low * 0.9, high=max(high, low * 2) * 1.1)


def _level_lines(scale: _Scale) -> Iterator[str]:
    for tick in scale.ticks():
        y = scale.y(tick)
        yield path(f"M{num(_LEFT)} {num(y)}H{num(WIDTH - _RIGHT)}", "grid")
        yield words(_LEFT - 8, y + 4, f"{tick * 1e3:g} ms", "tick", text_anchor="end")


def _x(percent: float) -> float:
    """Return where a percentile is: each factor of ten closer to 100 % takes as much room."""
    nines = -math.log10(max(1 - percent / 100, 10**-4.3))
    return _LEFT + nines / 4.3 * (WIDTH - _LEFT - _RIGHT)

"""Draw moments and cycles as SVG."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from markupsafe import Markup

from onceproof.reports.anomalies.scene import Arc, Moment
from onceproof.reports.anomalies.svg import cross, element, num, path, width_of, words
from onceproof.reports.anomalies.svg_board import Drawn

_ROW = 23
_STEP = 46
_LINE = 46
"""Maximum number of characters per line of an explanation."""


def draw_moments(moments: Sequence[Moment]) -> Drawn:
    """Draw a row per moment and a column per time."""
    times = sorted({t for m in moments for t in (m.start, m.end) if t is not None})
    label = max(width_of(m.label) for m in moments) + 42
    x = {time: label + _STEP * number for number, time in enumerate(times)}
    open_end = any(m.lasting and m.end is None for m in moments)
    last = x[times[-1]] + (_STEP if open_end else 0)
    height = 26 + _ROW * len(moments)
    marks = [words(10, 16, "time", "p-name")]
    for time in times:
        marks += [
            words(x[time], 16, str(time), "p-name", text_anchor="middle"),
            path(f"M{num(x[time])} 22V{height}", "p-tick"),
        ]
    for number, moment in enumerate(moments):
        marks.append(_moment(moment, 26 + _ROW * number, x, last))
    return Drawn(width=last + 22, height=height + 4, marks=tuple(marks))


def _moment(moment: Moment, y: float, x: dict[int, float], last: float) -> Markup:
    bad = " p-wrong" if moment.wrong else ""
    middle = y + _ROW / 2
    marks = [cross(14, middle)] if moment.wrong else []
    marks.append(words(22, y + 16, moment.label, "p-text"))
    start = num(x[moment.start])
    if moment.lasting:
        end = last if moment.end is None else x[moment.end]
        stop = "m0 -6v12" if moment.end is not None else "l-5 -5m5 5l-5 5"
        d = f"M{start} {num(middle - 6)}v12m0 -6H{num(end)}{stop}"
        marks.append(path(d, f"p-life{bad}"))
    else:
        marks.append(element("circle", cx=start, cy=middle, r=4.5, class_=f"p-dot{bad}"))
    refs = " ".join(f"{table}:{number}" for table, number in moment.refs)
    return element("g", *marks, data_rows=refs or None)


def draw_cycle(cycle: Sequence[Arc]) -> Drawn:
    """Draw transactions on a ring with numbered arrows, and explain each arrow below it."""
    names = [arc.source for arc in cycle]
    node = max(width_of(name) for name in names) + 24
    count = len(names)
    radius = max(46.0, count * 22.0)
    wide = max(radius, node * 0.75 + 20)
    middle, top = wide + node / 2 + 4, radius + 30
    at = [
        (
            middle + wide * math.cos(math.pi + 2 * math.pi * i / count),
            top + radius * math.sin(math.pi + 2 * math.pi * i / count) * (count > 2),
        )
        for i in range(count)
    ]
    marks: list[Markup] = []
    for i, arc in enumerate(cycle):
        marks += _arc(at[i], at[(i + 1) % count], i + 1, arc, (middle, top), node)
    for name, (x, y) in zip(names, at, strict=True):
        marks += [
            element(
                "rect", x=x - node / 2, y=y - 14, width=node, height=28, rx=14,
                class_="p-node p-wrong",
            ),
            words(x, y + 4.5, name, "p-text p-record", text_anchor="middle"),
        ]  # fmt: skip
    y = top + (radius if count > 2 else 34) + 36
    width = 2 * middle
    for i, arc in enumerate(cycle, 1):
        for number, part in enumerate(textwrap.wrap(f"{arc.kind}: {arc.why}", _LINE)):
            if not number:
                marks += _number(12, y - 4, i)
            marks.append(words(26, y, part, "p-text"))
            width = max(width, 26 + width_of(part))
            y += 17
        y += 5
    return Drawn(width=width + 4, height=y - 8, marks=tuple(marks))


def _arc(
    start: tuple[float, float],
    end: tuple[float, float],
    number: int,
    arc: Arc,
    centre: tuple[float, float],
    node: float,
) -> list[Markup]:
    """Draw an arrow bent outwards, with its number and kind beside its middle."""
    (x1, y1), (x2, y2) = start, end
    mx, my = (x1 + x2) / 2, (y1 + y2) / 2
    dx, dy = x2 - x1, y2 - y1
    length = math.hypot(dx, dy) or 1.0
    bend = 40
    cx, cy = mx + dy / length * bend, my - dx / length * bend
    tip = _towards((cx, cy), end, node / 2 + 2, 16)
    tail = _towards((cx, cy), start, node / 2, 14)
    bx, by = (tail[0] + 2 * cx + tip[0]) / 4, (tail[1] + 2 * cy + tip[1]) / 4
    angle = math.degrees(math.atan2(tip[1] - cy, tip[0] - cx))
    outwards = 1 if by >= centre[1] else -1
    label = by + (22 if outwards > 0 else -14)
    return [
        path(
            f"M{num(tail[0])} {num(tail[1])}Q{num(cx)} {num(cy)} {num(tip[0])} {num(tip[1])}",
            "p-wire p-wrong",
        ),
        element(
            "path", d="M1 0l-9 -4.5v9z", class_="p-head p-wrong",
            transform=f"translate({num(tip[0])} {num(tip[1])}) rotate({num(angle)})",
        ),
        *_number(bx, by, number),
        words(bx, label, arc.kind, "p-name", text_anchor="middle"),
    ]  # fmt: skip


def _towards(
    away: tuple[float, float], middle: tuple[float, float], wide: float, high: float
) -> tuple[float, float]:
    """Return the point on a node's ellipse that faces another point."""
    dx, dy = away[0] - middle[0], away[1] - middle[1]
    scale = math.sqrt((dx / wide) ** 2 + (dy / high) ** 2) or 1.0
    return middle[0] + dx / scale, middle[1] + dy / scale


def _number(x: float, y: float, number: int) -> list[Markup]:
    return [
        element("circle", cx=x, cy=y, r=8.0, class_="p-number"),
        words(x, y + 3.7, str(number), "p-name", text_anchor="middle"),
    ]

"""Draw which anomalies may imply which others.

Names that imply each other, over any number of steps, share a box, so the graph of boxes has no
cycles. Arrows that follow from others are omitted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from markupsafe import Markup

from onceproof.checkers.model import Evidence, Hop
from onceproof.reports.anomalies.layers import laid_out
from onceproof.reports.anomalies.svg import CHAR, document, element, num, path, words
from onceproof.reports.text import listed

_LINE: Final = 22
_PADDING: Final = 6
_APART: Final = 12
_THIN: Final = 18
_BETWEEN: Final = 42
_EDGE: Final = 8
_PORT: Final = 8.0

Implies = Mapping[str, frozenset[str]]
Kinds = Mapping[str, tuple[Hop, Evidence]]
Box = tuple[str, ...]


def draw(implies: Implies, kinds: Kinds) -> Markup:
    """Draw the graph; anomalies without any implication are omitted."""
    box_of, arrows = boxes(implies)
    members = {box[0]: box for box in box_of.values()}
    layout = laid_out(sorted(arrows))
    wide = max((len(name) for name in box_of), default=0) * CHAR + 30
    at: dict[object, tuple[float, float]] = {}
    heights = {spot: _height(members, spot) for layer in layout.layers for spot in layer}
    tall = max((sum(heights[spot] for spot in layer) for layer in layout.layers), default=0)
    for number, layer in enumerate(layout.layers):
        x = _EDGE + number * (wide + _BETWEEN)
        y = _EDGE + (tall - sum(heights[spot] for spot in layer)) / 2
        for spot in layer:
            at[spot] = (x, y + heights[spot] / 2)
            y += heights[spot]
    ports = _ports(layout.ways.values(), at)
    marks = []
    for way in layout.ways.values():
        points = [at[spot] for spot in way]
        for end, beside in ((0, 1), (-1, -2)):
            x, y = points[end]
            points[end] = (x, y + ports[way[end], way[beside]])
        marks.append(_draw_edge(points, wide))
    marks += [
        _draw_box(members[name], at[name], wide, kinds) for name in sorted(members) if name in at
    ]
    description = ". ".join(
        f"{name} may imply {listed(sorted(others))}"
        for name, others in sorted(implies.items())
        if others
    )
    width = max(len(layout.layers), 1) * (wide + _BETWEEN) - _BETWEEN + 2 * _EDGE
    title = "Which anomalies may imply which others"
    return document("implications", title, description, (width, tall + 2 * _EDGE), *marks)


def boxes(implies: Implies) -> tuple[dict[str, Box], set[tuple[str, str]]]:
    """Return each name's box, and the arrows between boxes, identified by their first names."""
    names = sorted(implies.keys() | {name for others in implies.values() for name in others})
    brings = {name: _reached(implies, name) for name in names}
    box_of = {
        name: tuple(n for n in names if n == name or (n in brings[name] and name in brings[n]))
        for name in names
    }
    arrows = {
        (box_of[source][0], box_of[target][0])
        for source in names
        for target in implies.get(source, ())
        if box_of[source] != box_of[target]
    }
    redundant = {
        (source, target)
        for source, target in arrows
        if any(
            (source, between) in arrows and target in brings[between]
            for between in {b for _, b in arrows} - {target}
        )
    }
    return box_of, arrows - redundant


def _reached(implies: Implies, name: str) -> set[str]:
    """Return everything that a name may imply, over any number of steps."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = implies.get(waiting.pop(), frozenset()) - found
        found |= new
        waiting += new
    return found


def _height(members: Mapping[str, Box], spot: object) -> float:
    if isinstance(spot, str):
        return len(members[spot]) * _LINE + 2 * _PADDING + _APART
    return _THIN


def _ports(
    ways: Iterable[Sequence[object]], at: Mapping[object, tuple[float, float]]
) -> dict[tuple[object, object], float]:
    """Spread arrow ends around the middle of a box, ordered like the boxes they connect to."""
    beside: dict[tuple[object, bool], list[object]] = defaultdict(list)
    for way in ways:
        for end, other in ((way[0], way[1]), (way[-1], way[-2])):
            beside[end, at[other][0] > at[end][0]].append(other)
    ports = {}
    for (name, _), others in beside.items():
        others.sort(key=lambda other: at[other][1])
        step = min(_PORT, (_LINE + _PADDING) / max(1, len(others) - 1))
        for number, other in enumerate(others):
            ports[name, other] = step * (number - (len(others) - 1) / 2)
    return ports


def _draw_edge(points: list[tuple[float, float]], wide: float) -> Markup:
    """Draw a smooth arrow that passes through the middle of its spots."""
    x, y = points[0][0] + wide, points[0][1]
    d = f"M{num(x)} {num(y)}"
    for number, (into, middle) in enumerate(points[1:], 1):
        half = (into - x) / 2
        d += f"C{num(x + half)} {num(y)} {num(into - half)} {num(middle)} {num(into)} {num(middle)}"
        x, y = into, middle
        if number < len(points) - 1:
            x = into + wide
            d += f"H{num(x)}"
    tip = path(f"M{num(x)} {num(y)}l-8 -4v8z", "p-head")
    return element("g", path(d, "p-wire"), tip)


def _draw_box(names: Box, at: tuple[float, float], wide: float, kinds: Kinds) -> Markup:
    x, middle = at
    high = len(names) * _LINE + 2 * _PADDING
    y = middle - high / 2
    marks = [element("rect", x=x, y=y, width=wide, height=high, rx=5, class_="p-node")]
    for number, name in enumerate(names):
        hop, evidence = kinds.get(name, (Hop.PROCESS, Evidence.PRESENCE))
        look = "p-stalls" if evidence is Evidence.LIVENESS else f"p-{hop.value}"
        row = y + _PADDING + number * _LINE
        marks.append(
            element(
                "a",
                element("circle", cx=x + 11, cy=row + 11, r=3.5, class_=f"p-kind {look}"),
                words(x + 20, row + 15, name, "p-text"),
                href=f"#{name}",
            )
        )
    return element("g", *marks)

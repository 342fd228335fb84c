"""Draw a minimal history as SVG, with the witness of its finding in red and marked with ✗."""

from __future__ import annotations

import re

from markupsafe import Markup

from onceproof.reports.anomalies import svg_board, svg_moments
from onceproof.reports.anomalies.description import described
from onceproof.reports.anomalies.scene import Scene
from onceproof.reports.anomalies.svg import document, element, num

_BETWEEN = 16


def svg_picture(shown: Scene) -> Markup:
    """Return the picture, with the same in words as its description."""
    parts = [svg_board.draw(shown.board)]
    if shown.moments:
        parts.append(svg_moments.draw_moments(shown.moments))
    if shown.cycle:
        parts.append(svg_moments.draw_cycle(shown.cycle))
    marks = []
    y = 0.0
    for part in parts:
        marks.append(element("g", *part.marks, transform=f"translate(0 {num(y)})"))
        y += part.height + _BETWEEN
    width = max(part.width for part in parts)
    name = f"picture-{slug(shown.title)}"
    title = f"{shown.title}: a minimal history"
    return document(name, title, described(shown), (width, y - _BETWEEN), *marks)


def slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]+", "-", name)

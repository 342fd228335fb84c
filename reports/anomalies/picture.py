"""The picture of a minimal history: for a terminal as text, for a page as SVG.

What is highlighted is the witness of a real finding: heavy strokes and an ✗
in text, red and an ✗ in SVG, so that nobody needs colour. Where the checkers find nothing, nothing
is highlighted.
"""

from __future__ import annotations

import re
import textwrap

from markupsafe import Markup

from onceproof.checkers.model import Anomaly
from onceproof.reports.anomalies import svg_board, svg_moments, text_board, text_list
from onceproof.reports.anomalies.canvas import Canvas, TextLine, Tone
from onceproof.reports.anomalies.drawers.stage import scene_of
from onceproof.reports.anomalies.names import fitted
from onceproof.reports.anomalies.scene import Scene
from onceproof.reports.anomalies.spoken import described
from onceproof.reports.anomalies.svg import document, element, num
from onceproof.reports.anomalies.text_columns import WRONG
from onceproof.reports.anomalies.text_moments import paint_cycle, paint_moments
from onceproof.reports.anomalies.trial import Minimal, tried

WIDTH = 78
_BETWEEN = 16


def scene(anomaly: Anomaly, minimal: Minimal | None = None) -> Scene:
    """What the picture of an anomaly shows."""
    return scene_of(tried(anomaly, anomaly.minimal if minimal is None else minimal))


def text_picture(shown: Scene, width: int = WIDTH) -> tuple[TextLine, ...]:
    """The picture for a terminal, at most `width` columns wide."""
    canvas = Canvas()
    y = text_board.paint(canvas, shown.board, 0, width)
    if y is None:
        y = text_list.paint(canvas, shown.board, 0, width)
    if shown.moments:
        y = paint_moments(canvas, shown.moments, y, width)
    if shown.cycle:
        y = paint_cycle(canvas, shown.cycle, y, width)
    for sentence in shown.sentences:
        parts = textwrap.wrap(f"{WRONG}{sentence}", width, subsequent_indent="  ")
        for part in parts:
            canvas.put(0, y, fitted(part, width), Tone.WRONG)
            y += 1
    return canvas.lines()


def svg_picture(shown: Scene) -> Markup:
    """The picture for a page, with the words of the text picture for those who do not see it."""
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
    """The name as an identifier within a page."""
    return re.sub(r"[^A-Za-z0-9-]+", "-", name)

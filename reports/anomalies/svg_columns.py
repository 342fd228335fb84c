"""The horizontal layout of a board, in pixels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from onceproof.reports.anomalies.scene import Board, Edge, Group, Line, Panel, Place, Strip
from onceproof.reports.anomalies.svg import SMALL, width_of

_GAP = 14
_LEAST_SLOT = 44
_LEAST_GUTTER = 110


@dataclass(frozen=True, kw_only=True)
class Columns:
    """A gutter for text, with the slots to its right."""

    gutter: float
    width: float
    strips: tuple[Strip, ...]
    borders: Mapping[Place, tuple[float, float]]

    def of(self, target: Place | Edge) -> float | None:
        """Return where a wire ends: the middle of a slot, or the border at an edge."""
        if isinstance(target, Place):
            borders = self.borders.get(target)
            return None if borders is None else sum(borders) / 2
        for strip in self.strips:
            if strip.holds(target.place):
                number = strip.edge(target.place)
                if number == len(strip.slots):
                    return self.borders[strip.slots[-1].place][1]
                return self.borders[strip.slots[number].place][0]
        return None

    def span(self, strip: Strip) -> tuple[float, float]:
        return self.borders[strip.slots[0].place][0], self.borders[strip.slots[-1].place][1]


def columns_of(board: Board) -> Columns:
    gutter = max([_LEAST_GUTTER, *map(panel_width, board.beside)])
    x = gutter + _GAP
    borders: dict[Place, tuple[float, float]] = {}
    for strip in board.strips:
        widths = [
            max(_LEAST_SLOT, *(width_of(text) + 18 for text in slot.lines)) for slot in strip.slots
        ]
        missing = width_of(strip.name, SMALL) + 16 - sum(widths)
        if missing > 0:
            widths[-1] += missing
        for slot, width in zip(strip.slots, widths, strict=True):
            borders[slot.place] = (x, x + width)
            x += width
        x += _GAP
    end = x - _GAP if board.strips else gutter
    alone = [panel_width(p) for p in (*board.above, *board.below) if p not in board.beside]
    return Columns(
        gutter=gutter, width=max([end + 5, *alone]) + 2, strips=board.strips, borders=borders
    )


def panel_width(panel: Panel) -> float:
    widths = [width_of(panel.title, SMALL) + 20]
    for item in panel.items:
        if isinstance(item, Group):
            widths.append(width_of(item.title) + 40)
            widths += [_line_width(line) + 14 for line in item.lines]
        else:
            widths.append(_line_width(item))
    return max(widths)


def _line_width(line: Line) -> float:
    return width_of(line.text) + 34

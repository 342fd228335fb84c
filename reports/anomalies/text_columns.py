"""Where everything on a board is from left to right, in columns of a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len

from onceproof.reports.anomalies.scene import Board, Edge, Look, Place, Strip

WRONG: Final = "✗ "
_LEAST_GUTTER = 18
_BETWEEN_STRIPS = 2


@dataclass(frozen=True, kw_only=True)
class Columns:
    """A gutter for text, and right of it the slots."""

    width: int
    gutter: int
    strips: tuple[Strip, ...]
    lefts: tuple[int, ...]
    """The left border of each strip."""
    borders: Mapping[Place, tuple[int, int]]
    """The left and right border of each slot."""

    def of(self, target: Place | Edge) -> int | None:
        """The column where a wire ends: the middle of a slot, or the border that is the edge."""
        if isinstance(target, Place):
            borders = self.borders.get(target)
            return None if borders is None else sum(borders) // 2
        for strip in self.strips:
            if strip.holds(target.place):
                number = strip.edge(target.place)
                if number == len(strip.slots):
                    return self.borders[strip.slots[-1].place][1]
                return self.borders[strip.slots[number].place][0]
        return None


def columns_of(board: Board, texts: Iterable[str], width: int) -> Columns | None:
    """The columns, or None where the logs leave no room for text."""
    borders: dict[Place, tuple[int, int]] = {}
    lefts = []
    x = 0
    for strip in board.strips:
        lefts.append(x)
        for slot, inner in zip(strip.slots, _inner_widths(strip), strict=True):
            borders[slot.place] = (x, x + inner + 1)
            x += inner + 1
        x += 1 + _BETWEEN_STRIPS
    natural = max((cell_len(text) for text in texts), default=0) + 2
    gutter = min(natural, width - (x - _BETWEEN_STRIPS))
    if board.strips and gutter < min(natural, _LEAST_GUTTER):
        return None
    return Columns(
        width=width,
        gutter=gutter,
        strips=board.strips,
        lefts=tuple(left + gutter for left in lefts),
        borders={
            place: (left + gutter, right + gutter) for place, (left, right) in borders.items()
        },
    )


def _inner_widths(strip: Strip) -> list[int]:
    """Enough for the text of each slot, and all together for the strip's name."""
    widths = []
    for slot in strip.slots:
        texts = [f"{WRONG}{text}" if slot.wrong else text for text in slot.lines[:1]]
        text = max(map(cell_len, [*texts, *slot.lines[1:]]))
        widths.append(text if slot.look is Look.ELIDED else text + 2)
    missing = cell_len(strip.name) + 3 - (sum(widths) + len(widths) - 1)
    if missing > 0:
        widths[-1] += missing
    return widths

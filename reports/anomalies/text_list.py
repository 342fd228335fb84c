"""A board in words alone, where there is no room for a drawing."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from onceproof.reports.anomalies.canvas import Canvas, Tone
from onceproof.reports.anomalies.scene import Board, Edge, Flow, Group, Line, Panel, Place
from onceproof.reports.anomalies.text_columns import WRONG


def paint(canvas: Canvas, board: Board, top: int, width: int) -> int:
    """Write a board; returns the row below it."""
    y = top
    for wrong, text, title in _rows(board):
        tone = Tone.WRONG if wrong else Tone.TITLE if title else Tone.PLAIN
        for part in textwrap.wrap(text, width, subsequent_indent="    ", break_long_words=True):
            canvas.put(0, y, part, tone)
            y += 1
    return y + 1


def _rows(board: Board) -> Iterator[tuple[bool, str, bool]]:
    for panel in board.above:
        yield from _panel(panel)
    for strip in board.strips:
        yield False, f"log {strip.name}", True
        for slot in strip.slots:
            yield slot.wrong, f"{_mark(slot.wrong)}{' '.join(slot.lines)}", False
    for panel in board.below:
        yield from _panel(panel)


def _panel(panel: Panel) -> Iterator[tuple[bool, str, bool]]:
    yield False, panel.title, True
    for item in panel.items:
        if isinstance(item, Group):
            yield item.wrong, f"{_mark(item.wrong)}{item.title}:", False
            for line in item.lines:
                yield line.wrong, f"{_mark(line.wrong)}- {_told(line)}", False
        else:
            yield item.wrong, f"{_mark(item.wrong)}{_told(item)}", False


def _mark(wrong: bool) -> str:
    return WRONG if wrong else "  "


def _told(line: Line) -> str:
    arrow = "→" if line.flow is Flow.TO_SLOT else "from"
    wires = [target for target in line.wires if isinstance(target, Place)]
    if not wires or any(isinstance(target, Edge) for target in line.wires):
        return line.text
    return f"{line.text} {arrow} {', '.join(f'{w.partition}@{w.offset}' for w in wires)}"

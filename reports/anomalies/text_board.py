"""A board for a terminal: text at the left, logs at the right, wires between them.

Every line has a row of its own and every slot a column of its own, so a wire
is one horizontal and one vertical stroke. Where two only cross, the vertical one goes over the
other; where they join, the character says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rich.cells import cell_len

from onceproof.reports.anomalies.canvas import Canvas, Tone
from onceproof.reports.anomalies.names import fitted
from onceproof.reports.anomalies.scene import Board, Flow, Group, Line, Look, Panel
from onceproof.reports.anomalies.text_columns import WRONG, Columns, columns_of


@dataclass(frozen=True, kw_only=True)
class _Row:
    """A line, and the column behind its text."""

    line: Line
    end: int


def paint(canvas: Canvas, board: Board, top: int, width: int) -> int | None:
    """Draw a board; returns the row below it, or None where the width is too small."""
    beside = board.beside
    texts = [_whole(line, text) for panel in beside for line, _, text in _texts(panel)]
    columns = columns_of(board, [*texts, *(panel.title for panel in beside)], width)
    if columns is None:
        return None
    return _Painter(canvas, board, columns).paint(top)


class _Painter:
    """Draws one board onto a canvas."""

    def __init__(self, canvas: Canvas, board: Board, columns: Columns) -> None:
        self._canvas = canvas
        self._board = board
        self._columns = columns
        self._beside = board.beside

    def paint(self, top: int) -> int:
        """Everything from top to bottom."""
        above, y = self._panels(self._board.above, top)
        if not self._board.strips:
            return self._panels(self._board.below, y)[1]
        border = y if above else top
        bottom = self._logs(border)
        below, end = self._panels(self._board.below, bottom + 2)
        self._wires(above, border - 1)
        self._wires(below, bottom + 1)
        return end

    def _panels(self, panels: Iterable[Panel], y: int) -> tuple[dict[int, _Row], int]:
        """The text of panels; returns what is in which row, and the row behind a blank one."""
        rows = {}
        for panel in panels:
            self._canvas.put(0, y, fitted(panel.title, self._columns.width), Tone.TITLE)
            for line, wrong, text in _texts(panel):
                y += 1
                room = self._columns.gutter - 1 if panel in self._beside else self._columns.width
                tone = Tone.WRONG if wrong else Tone.PLAIN
                word = line.ending if line is not None else ""
                end = self._canvas.put(0, y, fitted(text, room - cell_len(word)) + word, tone)
                if line is not None:
                    rows[y] = _Row(line=line, end=end)
            y += 2
        return rows, y

    def _logs(self, y: int) -> int:
        """The strips; returns the row of their lower border."""
        slots = [slot for strip in self._board.strips for slot in strip.slots]
        bottom = y + max(len(slot.lines) for slot in slots) + 1
        for slot in sorted(slots, key=lambda slot: slot.wrong):  # heavy borders over light ones
            left, right = self._columns.borders[slot.place]
            dashed = slot.look in (Look.GHOST, Look.ELIDED)
            self._canvas.box(left, y, right, bottom, wrong=slot.wrong, dashed=dashed)
            for number, text in enumerate(slot.lines, 1):
                told = f"{WRONG}{text}" if slot.wrong and number == 1 else text
                start = left + 1 + max(0, (right - left - 1 - cell_len(told)) // 2)
                self._canvas.put(start, y + number, told, Tone.WRONG if slot.wrong else Tone.PLAIN)
        for strip, left in zip(self._board.strips, self._columns.lefts, strict=True):
            self._canvas.put(left + 1, y, f" {strip.name} ", Tone.TITLE)
        self._canvas.put(0, y + 1, "log" if len(self._board.strips) == 1 else "logs", Tone.TITLE)
        return bottom

    def _wires(self, rows: Mapping[int, _Row], log: int) -> None:
        """All wires between lines and the row `log`, the one beside the strips."""
        ends = {y: self._ends(row.line) for y, row in rows.items()}
        for y, row in rows.items():
            passing = {
                x
                for other in rows
                if min(other, log) < y < max(other, log)
                for x in ends[other].keys() - ends[y].keys()
            }
            if row.line.span is not None:
                self._span(y, row.line, passing)
            if ends[y]:
                self._wire(y, row, ends[y], passing, log)

    def _ends(self, line: Line) -> dict[int, bool]:
        """The columns of a line's wires, and whether each of them is wrong."""
        ends = {}
        for target in line.wires:
            x = self._columns.of(target)
            if x is not None:
                ends[x] = line.wrong and self._board.blames(target)
        return dict(sorted(ends.items()))

    def _wire(
        self, y: int, row: _Row, ends: Mapping[int, bool], passing: set[int], log: int
    ) -> None:
        head = row.line.flow is Flow.TO_LINE
        start = row.end + 1
        for x, wrong in ends.items():
            like = {"wrong": wrong, "dashed": row.line.ghost}
            tone = Tone.WRONG if wrong else Tone.PLAIN
            self._canvas.across(start, x, y, under=passing, **like)
            self._canvas.down(x, y, log - head if y > log else log, **like)
            if not head:
                self._canvas.put(x, log, "▼" if y < log else "▲", tone)
        if head:
            tone = Tone.WRONG if any(ends.values()) else Tone.PLAIN
            self._canvas.put(start, y, "◁" if row.line.ghost else "◀", tone)

    def _span(self, y: int, line: Line, passing: set[int]) -> None:
        start, end = (self._columns.of(edge) for edge in line.span or ())
        if start is not None and end is not None:
            tone = Tone.WRONG if line.wrong else Tone.PLAIN
            self._canvas.across(start, end, y, under=passing, wrong=line.wrong, dashed=line.ghost)
            self._canvas.put(start, y, "[", tone)
            self._canvas.put(end, y, ")", tone)


def _texts(panel: Panel) -> Iterator[tuple[Line | None, bool, str]]:
    """A panel's rows: the line (None: a group's title), whether it is wrong, and its text."""
    for item in panel.items:
        if isinstance(item, Group):
            corner = "┌" if item.lines else "╶"
            yield None, item.wrong, f"{WRONG if item.wrong else '  '}{corner} {item.title}"
            for number, line in enumerate(item.lines, 1):
                bracket = "└" if number == len(item.lines) else "│"
                yield line, line.wrong, f"{WRONG if line.wrong else '  '}{bracket} {line.label}"
        else:
            yield item, item.wrong, f"{WRONG if item.wrong else '  '}{item.label}"


def _whole(line: Line | None, text: str) -> str:
    return text if line is None else text + line.ending

"""Draw a board as SVG: panels of text at the left, logs at the right, wires between them.

Each line has a row and each slot a column. A horizontal wire is interrupted where a vertical one
crosses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from markupsafe import Markup

from onceproof.reports.anomalies.scene import Board, Flow, Group, Line, Panel, Ref, Slot
from onceproof.reports.anomalies.svg import cross, element, num, path, words
from onceproof.reports.anomalies.svg_columns import Columns, columns_of, panel_width

_ROW = 23
_HEAD = 24
_FOOT = 7
_BETWEEN = 12
_ROOM = 22
"""Space between panels and logs for the tips of arrows."""
_AIR = 4.5
"""Gap on both sides of a crossing wire."""
_NAME = 19
_TEXT = 17


@dataclass(kw_only=True)
class _Layers:
    panels: list[Markup] = field(default_factory=list)
    wires: list[Markup] = field(default_factory=list)
    logs: list[Markup] = field(default_factory=list)
    heads: list[Markup] = field(default_factory=list)

    def all(self) -> list[Markup]:
        return [*self.panels, *self.wires, *self.logs, *self.heads]


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A part of a picture, with its size."""

    width: float
    height: float
    marks: tuple[Markup, ...]


def draw(board: Board) -> Drawn:
    columns = columns_of(board)
    artist = _Artist(board, columns)
    height = artist.draw()
    return Drawn(width=columns.width, height=height, marks=tuple(artist.layers.all()))


class _Artist:
    def __init__(self, board: Board, columns: Columns) -> None:
        self._board = board
        self._columns = columns
        self.layers = _Layers()

    def draw(self) -> float:
        """Draw everything, and return the height."""
        above, y = self._panels(self._board.above, 1)
        if self._board.strips:
            top = y - _BETWEEN + _ROOM if above else y
            bottom = self._logs(top)
            below, y = self._panels(self._board.below, bottom + _ROOM)
            self._wires(above, top)
            self._wires(below, bottom)
            y = max(y, bottom + _BETWEEN)
        else:
            _, y = self._panels(self._board.below, y)
        return y - _BETWEEN + 2

    def _panels(self, panels: Iterable[Panel], y: float) -> tuple[list[tuple[float, Line]], float]:
        """Draw panels from top to bottom; return the middle of each line, and the next free `y`."""
        rows: list[tuple[float, Line]] = []
        for panel in panels:
            top = y
            beside = panel in self._board.beside
            width = self._columns.gutter if beside else panel_width(panel)
            marks = [words(10, y + 16, panel.title, "p-name")]
            y += _HEAD
            for item in panel.items:
                if isinstance(item, Group):
                    marks += self._group(item, y)
                    y += _ROW
                    for line in item.lines:
                        marks.append(_text_of(line, 36, y))
                        rows.append((y + _ROW / 2, line))
                        y += _ROW
                else:
                    marks.append(_text_of(item, 22, y))
                    rows.append((y + _ROW / 2, item))
                    y += _ROW
            y += _FOOT
            self.layers.panels += [
                element(
                    "rect", x=1, y=top, width=width - 1, height=y - top,
                    rx=5, class_="p-panel",
                ),
                *marks,
            ]  # fmt: skip
            y += _BETWEEN
        return rows, y

    def _group(self, group: Group, y: float) -> Iterator[Markup]:
        height = _ROW * len(group.lines)
        if group.lines:
            d = f"M30 {num(y + _ROW / 2 + 3)}h-5v{num(height)}h5"
            yield path(d, f"p-bracket{_wrong_class(group.wrong)}")
        marks = [cross(14, y + _ROW / 2)] if group.wrong else []
        marks.append(
            words(34, y + _TEXT - 1, group.title, f"p-text p-group{_wrong_class(group.wrong)}")
        )
        yield element("g", *marks, data_rows=_rows(group.refs))

    def _logs(self, y: float) -> float:
        slots = [slot for strip in self._board.strips for slot in strip.slots]
        height = 13 + 16 * max(len(slot.lines) for slot in slots)
        for strip in self._board.strips:
            left, right = self._columns.span(strip)
            self.layers.logs += [
                element("rect", x=left, y=y, width=right - left, height=_NAME, class_="p-log-name"),
                words(left + 7, y + 13.5, strip.name, "p-name"),
            ]
        for slot in sorted(slots, key=lambda slot: slot.wrong):
            self.layers.logs.append(self._slot(slot, y + _NAME, height))
        mark = "log" if len(self._board.strips) == 1 else "logs"
        self.layers.panels.append(
            words(self._columns.gutter - 8, y + _NAME + 20, mark, "p-name", text_anchor="end")
        )
        return y + _NAME + height

    def _slot(self, slot: Slot, y: float, height: float) -> Markup:
        left, right = self._columns.borders[slot.place]
        marks = [
            element(
                "rect", x=left, y=y, width=right - left, height=height,
                class_=f"p-slot p-{slot.look}{_wrong_class(slot.wrong)}",
            )
        ]  # fmt: skip
        if slot.wrong:
            marks.append(cross(left + 8, y + 8, 3))
        for number, text in enumerate(slot.lines):
            class_ = "p-text p-record" if not number else "p-text p-note"
            marks.append(
                words(
                    (left + right) / 2, y + 19 + 16 * number, text,
                    f"{class_}{_wrong_class(slot.wrong and not number)}", text_anchor="middle",
                )
            )  # fmt: skip
        return element("g", *marks, data_rows=_rows(slot.refs))

    def _wires(self, rows: list[tuple[float, Line]], log: float) -> None:
        """Draw wires between lines and the border of the logs, wrong ones on top."""
        ends = [self._ends(line) for _, line in rows]
        wires = []
        for (y, line), mine in zip(rows, ends, strict=True):
            if line.span is not None:
                self._span(y, line)
            passing = {
                x
                for (other, _), theirs in zip(rows, ends, strict=True)
                if min(other, log) < y < max(other, log)
                for x in theirs.keys() - mine.keys()
            }
            wires += [(wrong, y, x, line, passing) for x, wrong in mine.items()]
        for wrong, y, x, line, passing in sorted(wires, key=lambda wire: wire[0]):
            self._wire(y, line, x, wrong, log, passing)

    def _ends(self, line: Line) -> dict[float, bool]:
        """Return the `x` of each wire's end, and whether that wire is wrong."""
        ends = ((self._columns.of(target), self._board.blames(target)) for target in line.wires)
        return {x: line.wrong and blamed for x, blamed in ends if x is not None}

    def _wire(
        self, y: float, line: Line, x: float, wrong: bool, log: float, passing: set[float]
    ) -> None:
        start = self._columns.gutter
        kind = f"p-wire{_wrong_class(wrong)}{' p-absent' if line.ghost else ''}"
        head = line.flow is Flow.TO_LINE
        tip = log if head else log + (-7 if y < log else 7)
        bend = 5 if tip > y else -5
        across = f"M{num(start + 7 * head)} {num(y)}"
        for gap in sorted(gap for gap in passing if gap < x):
            across += f"H{num(gap - _AIR)}M{num(gap + _AIR)} {num(y)}"
        self.layers.wires.append(path(f"{across}H{num(x - 5)}q5 0 5 {bend}V{num(tip)}", kind))
        filled = f"p-head{_wrong_class(wrong)}{' p-absent' if line.ghost else ''}"
        if head:
            self.layers.heads.append(path(f"M{num(start + 1)} {num(y)}l8 -4.5v9z", filled))
        else:
            up = 8 if y > log else -8
            self.layers.heads.append(path(f"M{num(x)} {num(log)}l-4.5 {up}h9z", filled))

    def _span(self, y: float, line: Line) -> None:
        start, end = (self._columns.of(edge) for edge in line.span or ())
        if start is not None and end is not None:
            kind = f"p-span{_wrong_class(line.wrong)}{' p-absent' if line.ghost else ''}"
            d = f"M{num(start + 2)} {num(y - 6)}v12m0 -6H{num(end - 2)}m0 -6v12"
            self.layers.heads.append(path(d, kind))


def _text_of(line: Line, x: float, y: float) -> Markup:
    marks = [cross(x - 8 if x < 30 else 14, y + _ROW / 2)] if line.wrong else []
    ghost = " p-missing" if line.ghost else ""
    text = [words(x, y + _TEXT - 1, line.label, f"p-text{ghost}")]
    if line.word:
        text = [
            element(
                "text", line.label, element("tspan", line.ending, class_="p-word"),
                x=x, y=y + _TEXT - 1, class_=f"p-text{ghost}",
            )
        ]  # fmt: skip
    return element("g", *marks, *text, data_rows=_rows(line.refs))


def _wrong_class(wrong: bool) -> str:
    return " p-wrong" if wrong else ""


def _rows(refs: Iterable[Ref]) -> str | None:
    return " ".join(f"{table}:{number}" for table, number in refs) or None

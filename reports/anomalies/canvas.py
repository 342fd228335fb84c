"""A sheet of squared paper for a terminal: strokes that join by themselves, and text on top.

A stroke is remembered as the sides of a square that it touches, so that a
corner, a join or a heavy line that meets a light one comes out as the one character that looks so.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import groupby

from rich.cells import cell_len

NORTH, EAST, SOUTH, WEST = range(4)
_Sides = tuple[int, int, int, int]
_WORDS = {
    "UP": (NORTH,),
    "RIGHT": (EAST,),
    "DOWN": (SOUTH,),
    "LEFT": (WEST,),
    "VERTICAL": (NORTH, SOUTH),
    "HORIZONTAL": (EAST, WEST),
}
_WEIGHTS = {"LIGHT": 1, "HEAVY": 2}
_DASHED = {"─": "╌", "│": "╎", "━": "╍", "┃": "╏"}
_ASCII = str.maketrans(
    {chr(c): "+" for c in range(0x2500, 0x2580)}
    | dict.fromkeys("─━╌╍╴╶╸╺", "-")
    | dict.fromkeys("│┃╎╏╵╷╹╻", "|")
    | {"▼": "v", "▲": "^", "◀": "<", "▶": ">", "✗": "x", "●": "o", "→": ">", "⋯": "~", "…": "~"}
    | {"–": "-", "«": '"', "»": '"', "×": "x", "\u00a0": " "}
)


class Tone(StrEnum):
    """How a piece of text is meant; colour may follow it and must not be needed."""

    PLAIN = "plain"
    TITLE = "title"
    WRONG = "wrong"


@dataclass(frozen=True)
class Piece:
    """Text of one tone."""

    text: str
    tone: Tone


TextLine = tuple[Piece, ...]


class Canvas:
    """Strokes and text at (column, row), both from 0."""

    def __init__(self) -> None:
        """Empty, and as large as what is put on it."""
        self._sides: dict[tuple[int, int], list[int]] = {}
        self._wrong: set[tuple[int, int]] = set()
        self._dashed: set[tuple[int, int]] = set()
        self._text: dict[tuple[int, int], tuple[str, Tone]] = {}

    def put(self, x: int, y: int, text: str, tone: Tone = Tone.PLAIN) -> int:
        """Write text; returns the column behind it."""
        for char in text:
            width = cell_len(char)
            if width:
                self._text[x, y] = (char, tone)
                for more in range(1, width):
                    self._text[x + more, y] = ("", tone)
                x += width
            elif (before := self._text.get((x - 1, y))) is not None:
                self._text[x - 1, y] = (before[0] + char, tone)
        return x

    def across(self, x: int, to: int, y: int, under: Collection[int] = (), **like: bool) -> None:
        """A horizontal stroke from the middle of one square to the middle of another; in the
        columns `under` which it passes something else is on top.
        """
        first, last = sorted((x, to))
        for column in range(first, last):
            if column not in under:
                self._join(column, y, EAST, **like)
            if column + 1 not in under:
                self._join(column + 1, y, WEST, **like)

    def down(self, x: int, y: int, to: int, **like: bool) -> None:
        """A vertical stroke from the middle of one square to the middle of another."""
        first, last = sorted((y, to))
        for row in range(first, last):
            self._join(x, row, SOUTH, **like)
            self._join(x, row + 1, NORTH, **like)

    def box(self, x: int, y: int, to_x: int, to_y: int, **like: bool) -> None:
        """A rectangle."""
        self.across(x, to_x, y, (), **like)
        self.across(x, to_x, to_y, (), **like)
        self.down(x, y, to_y, **like)
        self.down(to_x, y, to_y, **like)

    def lines(self) -> tuple[TextLine, ...]:
        """What was put, line by line, without blanks at the ends."""
        squares = self._text.keys() | self._sides.keys()
        height = max((y for _, y in squares), default=-1) + 1
        return tuple(tuple(self._line(y, squares)) for y in range(height))

    def _join(self, x: int, y: int, side: int, wrong: bool = False, dashed: bool = False) -> None:
        sides = self._sides.setdefault((x, y), [0, 0, 0, 0])
        sides[side] = max(sides[side], 2 if wrong else 1)
        if wrong:
            self._wrong.add((x, y))
        if dashed:
            self._dashed.add((x, y))

    def _line(self, y: int, squares: set[tuple[int, int]]) -> Iterator[Piece]:
        width = max((x for x, row in squares if row == y), default=-1) + 1
        seen = [self._square(x, y) for x in range(width)]
        for tone, pieces in groupby(seen, key=lambda square: square[1]):
            yield Piece("".join(char for char, _ in pieces), tone)

    def _square(self, x: int, y: int) -> tuple[str, Tone]:
        if (x, y) in self._text:
            return self._text[x, y]
        if (x, y) not in self._sides:
            return " ", Tone.PLAIN
        north, east, south, west = self._sides[x, y]
        char = _box_characters()[north, east, south, west]
        if (x, y) in self._dashed:
            char = _DASHED.get(char, char)
        return char, Tone.WRONG if (x, y) in self._wrong else Tone.PLAIN


def plain(lines: tuple[TextLine, ...]) -> str:
    """The text alone."""
    return "\n".join("".join(piece.text for piece in line).rstrip() for line in lines)


def in_ascii(text: str) -> str:
    """The same drawn with what every terminal has."""
    return text.translate(_ASCII)


@cache
def _box_characters() -> dict[_Sides, str]:
    """Unicode's box drawing by the weight of each side, as the characters' own names say it."""
    found: dict[_Sides, str] = {}
    for char in map(chr, range(0x2500, 0x2580)):
        words = unicodedata.name(char).removeprefix("BOX DRAWINGS ").split()
        if words[0] in _WORDS or words[0] in _WEIGHTS:
            sides = _sides(" ".join(words).split(" AND "))
            if sides is not None:
                found.setdefault(sides, char)
    return found


def _sides(parts: list[str]) -> _Sides | None:
    """`LIGHT DOWN`, `RIGHT`: a weight holds until the next one; `DOWN LIGHT`, `RIGHT HEAVY`."""
    sides = [0, 0, 0, 0]
    weight = 0
    for part in parts:
        words = part.split()
        if not all(word in _WORDS or word in _WEIGHTS for word in words):
            return None  # dashes, arcs and diagonals
        weight = next((_WEIGHTS[word] for word in words if word in _WEIGHTS), weight)
        for word in words:
            for side in _WORDS.get(word, ()):
                sides[side] = weight
    north, east, south, west = sides
    return north, east, south, west

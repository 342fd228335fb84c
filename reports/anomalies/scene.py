"""The content of a picture before layout: lines, wires, logs, moments and a cycle.

Logs are strips of slots in the middle. Writers are panels of text lines above them, readers are
panels below. Wires run from a line to a slot, or to the edge between two slots.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

Ref = tuple[str, int]
"""A row of the minimal history: table and index."""


@dataclass(frozen=True)
class Place:
    """An offset of a partition."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True)
class Edge:
    """The edge before an offset: the position of a reader that reads it next."""

    place: Place


class Look(StrEnum):
    """The kind of a slot."""

    COMMITTED = "committed"
    OPEN = "open"  # in the log, but not committed
    MARKER = "marker"
    GHOST = "ghost"  # nothing is there
    ELIDED = "elided"  # entries that do not matter here


@dataclass(frozen=True, kw_only=True)
class Slot:
    """One offset, or an elided range, of a strip."""

    place: Place
    lines: tuple[str, ...]
    look: Look
    wrong: bool = False
    refs: tuple[Ref, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Strip:
    """The log of one partition, from left to right."""

    name: str
    slots: tuple[Slot, ...]

    def holds(self, place: Place) -> bool:
        first = self.slots[0].place
        return (place.topic, place.partition) == (first.topic, first.partition)

    def edge(self, place: Place) -> int:
        """Return the index of the slot behind an edge; `len(slots)` if it is behind the last."""
        for number, slot in enumerate(self.slots):
            if slot.place.offset >= place.offset:
                return number
        return len(self.slots)


class Flow(StrEnum):
    """The end of a line's wires that has the arrow."""

    TO_SLOT = "to slot"
    TO_LINE = "to line"


@dataclass(frozen=True, kw_only=True)
class Line:
    """One row of a history in words, with wires to the log."""

    label: str
    word: str = ""
    """What is wrong, in a word or two, appended to the label."""
    wires: tuple[Place | Edge, ...] = ()
    flow: Flow = Flow.TO_LINE
    span: tuple[Edge, Edge] | None = None
    wrong: bool = False
    ghost: bool = False
    """It represents something that is missing."""
    refs: tuple[Ref, ...] = ()

    @property
    def ending(self) -> str:
        if not self.word:
            return ""
        return f"{' ' if self.label.endswith(':') else ', '}{self.word}"

    @property
    def text(self) -> str:
        return self.label + self.ending


@dataclass(frozen=True, kw_only=True)
class Group:
    """A transaction, with its lines."""

    title: str
    lines: tuple[Line, ...]
    wrong: bool = False
    refs: tuple[Ref, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Panel:
    """What one party did, from top to bottom."""

    title: str
    items: tuple[Line | Group, ...]

    def lines(self) -> Iterator[Line]:
        """Yield its lines, including those within groups."""
        for item in self.items:
            if isinstance(item, Group):
                yield from item.lines
            else:
                yield item

    @property
    def wired(self) -> bool:
        """Whether any of its lines is drawn at the logs, too."""
        return any(line.wires or line.span for line in self.lines())


@dataclass(frozen=True, kw_only=True)
class Board:
    """Writers above, logs in the middle, readers below."""

    above: tuple[Panel, ...] = ()
    strips: tuple[Strip, ...] = ()
    below: tuple[Panel, ...] = ()

    @property
    def beside(self) -> tuple[Panel, ...]:
        """The panels that wires start from or pass: up to the furthest one with a wire."""
        above = list(self.above)
        while above and not above[0].wired:
            above.pop(0)
        below = list(self.below)
        while below and not below[-1].wired:
            below.pop()
        return (*above, *below)

    def blames(self, target: Place | Edge) -> bool:
        """Return whether a wrong line's wire is wrong, too: not if it ends at a correct entry."""
        if isinstance(target, Edge):
            return True
        slots = (slot for strip in self.strips for slot in strip.slots)
        return all(s.wrong or s.look in (Look.GHOST, Look.OPEN) for s in slots if s.place == target)


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A point in time, or a period that may not have ended."""

    label: str
    start: int
    end: int | None = None
    lasting: bool = False
    wrong: bool = False
    refs: tuple[Ref, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Arc:
    """One dependency of a cycle."""

    source: str
    target: str
    kind: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Everything that a picture shows."""

    title: str
    board: Board
    moments: tuple[Moment, ...] = ()
    cycle: tuple[Arc, ...] = ()
    sentences: tuple[str, ...] = ()
    """What the checkers say about it; empty if they find nothing."""

    @property
    def panels(self) -> tuple[Panel, ...]:
        return self.board.above + self.board.below

    def refs(self, *, wrong: bool = False) -> frozenset[Ref]:
        """Return the rows of the history in the picture; only the highlighted ones if `wrong`."""
        found: set[Ref] = set()
        items: list[Slot | Line | Group | Moment] = [*self.moments]
        items += [slot for strip in self.board.strips for slot in strip.slots]
        for panel in self.panels:
            items += [item for item in panel.items if isinstance(item, Group)]
            items += panel.lines()
        for item in items:
            if item.wrong or not wrong:
                found.update(item.refs)
        return frozenset(found)

"""What a picture shows, before anybody says where: lines, wires, logs, moments, a cycle.

It is drawn like on a whiteboard. Logs lie in the middle as strips of slots;
above them stand those who write to them, below those who read, each as lines of text; wires run
from a line to a slot, or to the edge between two slots.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

Ref = tuple[str, int]
"""A row of the minimal history: table and place in it."""


@dataclass(frozen=True)
class Place:
    """An offset of a partition."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True)
class Edge:
    """The edge before an offset: where one stands who reads it next."""

    place: Place


class Look(StrEnum):
    """What kind of slot it is."""

    COMMITTED = "committed"
    OPEN = "open"  # in the log, but not committed
    MARKER = "marker"
    GHOST = "ghost"  # nothing is there
    ELIDED = "elided"  # whatever is there does not matter


@dataclass(frozen=True, kw_only=True)
class Slot:
    """One place of a strip."""

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
        """Whether a place is in this log."""
        first = self.slots[0].place
        return (place.topic, place.partition) == (first.topic, first.partition)

    def edge(self, place: Place) -> int:
        """Before which slot an edge lies, by number; their count means behind the last."""
        for number, slot in enumerate(self.slots):
            if slot.place.offset >= place.offset:
                return number
        return len(self.slots)


class Flow(StrEnum):
    """Where the arrow of a line's wires is."""

    TO_SLOT = "to slot"
    TO_LINE = "to line"


@dataclass(frozen=True, kw_only=True)
class Line:
    """One row of a history, in words, with wires to the log."""

    label: str
    word: str = ""
    """What is wrong with it, in a word or two; said behind the label."""
    wires: tuple[Place | Edge, ...] = ()
    flow: Flow = Flow.TO_LINE
    span: tuple[Edge, Edge] | None = None
    wrong: bool = False
    ghost: bool = False
    """It stands for something that is not there."""
    refs: tuple[Ref, ...] = ()

    @property
    def ending(self) -> str:
        """The word, as it follows the label."""
        if not self.word:
            return ""
        return f"{' ' if self.label.endswith(':') else ', '}{self.word}"

    @property
    def text(self) -> str:
        """Label and word."""
        return self.label + self.ending


@dataclass(frozen=True, kw_only=True)
class Group:
    """Lines that stand or fall together: a transaction."""

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
        """Its lines, those of its groups as well."""
        for item in self.items:
            if isinstance(item, Group):
                yield from item.lines
            else:
                yield item

    @property
    def wired(self) -> bool:
        """Whether any of its lines says something beside the logs."""
        return any(line.wires or line.span for line in self.lines())


@dataclass(frozen=True, kw_only=True)
class Board:
    """Writers above, logs in the middle, readers below."""

    above: tuple[Panel, ...] = ()
    strips: tuple[Strip, ...] = ()
    below: tuple[Panel, ...] = ()

    @property
    def beside(self) -> tuple[Panel, ...]:
        """The panels that wires start from or pass: up to the furthest one that has any."""
        above = list(self.above)
        while above and not above[0].wired:
            above.pop(0)
        below = list(self.below)
        while below and not below[-1].wired:
            below.pop()
        return (*above, *below)

    def blames(self, target: Place | Edge) -> bool:
        """Whether a wire from a line that is wrong shows what is wrong: it does, unless it ends
        at an entry that is right.
        """
        if isinstance(target, Edge):
            return True
        slots = (slot for strip in self.strips for slot in strip.slots)
        return all(s.wrong or s.look in (Look.GHOST, Look.OPEN) for s in slots if s.place == target)


@dataclass(frozen=True, kw_only=True)
class Moment:
    """Something with a time, or with a beginning and perhaps an end."""

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
    """What the checkers say of it; none where they find nothing."""

    @property
    def panels(self) -> tuple[Panel, ...]:
        """All panels from top to bottom."""
        return self.board.above + self.board.below

    def refs(self, *, wrong: bool = False) -> frozenset[Ref]:
        """The rows of the history that are in the picture; with `wrong`, the highlighted ones."""
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

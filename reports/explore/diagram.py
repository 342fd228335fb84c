"""A sequence diagram of a quiet trial, each message with the worst that a fault at it caused.

Crash windows are arrows to the checkpoint, which shows them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from onceproof.harness.explore.points import ANY, CHECKPOINT, QUEUE_BROKER, WINDOW, Passed, Point

LEFT: Final = 90
ROW: Final = 26
TOP: Final = 44
_GAP: Final = 210
_TITLES: Final = {
    CHECKPOINT: "checkpoint",
    QUEUE_BROKER: "queue broker",
    "input-leader": "leader of the input",
    "leader": "partition leader",
    "transaction-coordinator": "transaction coordinator",
    "group-coordinator": "group coordinator",
    ANY: "any broker",
}
"""Role of a broker, or the checkpoint → title of its lifeline, from left to right."""


@dataclass(frozen=True, kw_only=True)
class Arrow:
    """One message or window: from `start` to `end` at height `y`; `tone` is a verdict."""

    point: Point
    anchor: str
    start: int
    end: int
    y: int
    tone: str
    label: str
    title: str


@dataclass(frozen=True, kw_only=True)
class Diagram:
    """A sequence diagram: lifelines by x, and arrows from top to bottom."""

    lifelines: tuple[tuple[int, str], ...]
    arrows: tuple[Arrow, ...]
    width: int
    height: int


def title(point: Point) -> str:
    """Return what a point is, such as «request of Fetch»."""
    of = " " if point.direction == WINDOW else " of "
    return f"{point.direction}{of}{point.api}"


def diagram(
    trace: Sequence[Passed], anchors: Mapping[Point, str], tones: Mapping[Point, str]
) -> Diagram:
    """Draw the first message of each point.

    Args:
        anchors: ids of the sections about the points that were explored.
        tones: the worst verdict at each point.
    """
    shown = [p for p in dict.fromkeys(passed.point for passed in trace) if p in anchors]
    targets = [t for t in _TITLES if any(point.target == t for point in shown)]
    at = {target: LEFT + _GAP * number for number, target in enumerate(targets, start=1)}
    arrows = []
    for number, point in enumerate(shown):
        ends = (LEFT, at[point.target])
        start, end = ends[::-1] if point.direction == "response" else ends
        arrows.append(
            Arrow(
                point=point,
                anchor=anchors[point],
                start=start,
                end=end + (-6 if end > start else 6),
                y=TOP + ROW * (number + 1),
                tone=tones.get(point, "unexercised"),
                label=f"{point.api} ({point.purpose}, {point.ordinal})",
                title=title(point),
            )
        )
    return Diagram(
        lifelines=((LEFT, "client"), *((x, _TITLES[target]) for target, x in at.items())),
        arrows=tuple(arrows),
        width=LEFT + _GAP * len(targets) + 110,
        height=TOP + ROW * (len(shown) + 2),
    )

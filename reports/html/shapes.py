"""The shapes of the timeline. Only `Axis` converts seconds to pixels."""

from __future__ import annotations

from dataclasses import dataclass, field

PLOT = 936
MARGIN = 8
_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600)


@dataclass(frozen=True, kw_only=True)
class Axis:
    """Convert seconds to pixels."""

    end: float

    def x(self, at: float) -> float:
        inside = min(max(at, 0.0), self.end)
        return round(MARGIN + inside / self.end * (PLOT - 2 * MARGIN), 2)

    @property
    def margin(self) -> int:
        """Pixels between the edge of the picture and its first moment."""
        return MARGIN

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Positions and labels of round times."""
        step = next((s for s in _STEPS if self.end / s <= 12), self.end / 10)
        many = int(self.end / step) + 1
        # The last label must not be cut off.
        return tuple(
            (self.x(i * step), f"{i * step:g} s")
            for i in range(many)
            if self.x(i * step) <= PLOT - 30
        )


@dataclass(frozen=True, kw_only=True)
class Lane:
    """The name beside a lane, and the text below it where there is room."""

    name: str
    says: str
    y: int
    height: int

    @property
    def two_lines(self) -> bool:
        return self.height > 30


@dataclass(frozen=True, kw_only=True)
class Band:
    """A phase on the axis."""

    x: float
    width: float
    text: str
    even: bool
    says: str
    fits: bool


@dataclass(frozen=True, kw_only=True)
class Box:
    """A bar, with `text` in it if it `fits`. `real` is its true width if it is drawn wider."""

    x: float
    y: float
    width: float
    height: float
    kind: str = ""
    text: str = ""
    says: str = ""
    dim: bool = False
    fits: bool = True
    real: float | None = None


@dataclass(frozen=True, kw_only=True)
class Point:
    """A mark, with `text` beside it if it `fits`. `story` is the number of the linked story."""

    x: float
    y: float
    text: str = ""
    says: str = ""
    fits: bool = True
    story: int | None = None


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Throughput or lag over its own zero line, by `kind`; `full` is the value at its top."""

    line: str
    area: str
    base: float
    top: float
    peak: str
    peak_x: float
    full: str
    outages: tuple[Box, ...] = field(default=())
    ends: tuple[Point, ...] = field(default=())
    kind: str = "curve"

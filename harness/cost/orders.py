"""How much a way is to write in a phase: a rate or none, until a count or for some seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from onceproof.harness.cost.ways import Comparison, Phase, Way

FIRST_COUNT: Final = 200
"""Records that a pipeline gets before its speed is known."""
FASTER: Final = 4
"""By how much the next warm-up of a pipeline may be larger."""
_SLACK: Final = 120.0
_LATE: Final = 0.1
"""Part of a phase, and of a second, by which a producer that keeps up may end late."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """An order to what writes, as `load.py` takes it."""

    rate: float | None
    count: int | None
    seconds: float
    delay: float = 0.0

    @property
    def patience(self) -> float:
        """Seconds after which there is no answer any more."""
        return _SLACK + 3 * self.seconds

    def as_json(self, block: int) -> dict[str, Any]:
        return {**asdict(self), "block": block}


@dataclass(frozen=True, kw_only=True)
class Speeds:
    """What the ways of a comparison handle, in records per second.

    Attributes:
        seconds: usual length of a phase.
        known: speeds at full speed, by the keys of ways.
        capacity: the rate whose parts are the fixed rates; None: that of the slowest way.
    """

    comparison: Comparison
    seconds: float
    known: Mapping[str, float] = field(default_factory=dict)
    capacity: float | None = None

    @property
    def slowest(self) -> float:
        """The lowest speed of the ways that are compared at fixed rates."""
        return min(self.known[way.key] for way in self.comparison.ways if way.loaded)

    @property
    def full_load(self) -> float:
        """The rate whose parts are the fixed rates."""
        return self.slowest if self.capacity is None else self.capacity

    def order(self, way: Way, phase: Phase) -> Order:
        """Return the order of a way in a phase."""
        rate = None if phase.share is None else phase.share * self.full_load
        between = way.interval + way.records / (rate or self.known[way.key])
        seconds = max(phase.longer * self.seconds, phase.commits * between)
        if rate is None and way.fed is not None:
            # Its source takes more than it can handle. All get as much, since what is spent until
            # the first result is a larger part of less.
            return Order(rate=None, count=self._same(phase), seconds=seconds)
        count = None if rate is None else int(rate * seconds) + 1
        return Order(rate=rate, count=count, seconds=seconds, delay=phase.delay)

    def _same(self, phase: Phase) -> int:
        fed = [self.known[way.key] for way in self.comparison.ways if way.fed is not None]
        return int(min(fed) * phase.longer * self.seconds) + 1


def keeps_up(order: Order, took: float) -> bool:
    """Return whether a producer that took so many seconds kept up with the rate of its order."""
    return took <= order.seconds + _LATE * max(order.seconds, 1.0)


def warm_up(way: Way, seconds: float) -> Order:
    """Return the first order of a way, whose speed is not known."""
    count = None if way.fed is None else FIRST_COUNT
    return Order(rate=None, count=count, seconds=max(seconds, 2 * way.interval))


def next_warm_up(order: Order, *, rate: float, seconds: float) -> Order:
    """Return a larger order for a pipeline, until one lasts as long as a phase."""
    assert order.count is not None, "pipelines get a count"
    wanted = min(int(rate * seconds), FASTER * order.count)
    return Order(rate=None, count=max(order.count, wanted), seconds=order.seconds)

"""Points: the places in a pipeline's protocol where a fault can act.

It is a message, or a crash window: the client does something outside Kafka, as seen from outside. A
point is the same in every run, so it does not depend on connections, correlation ids or times. It
is learned from runs without faults.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal

Purpose = Literal["commit", "abort", "recovery", "start", "work"]
Ordinal = Literal["first", "middle", "last"]
MessageDirection = Literal["request", "response"]
Direction = Literal[MessageDirection, "window"]
DIRECTIONS: Final[tuple[MessageDirection, ...]] = ("request", "response")
"""Those of messages."""
WINDOW: Final = "window"
"""The direction of a crash window, which is no message."""
CHECKPOINT: Final = "checkpoint"
"""The target of a crash window around a checkpoint."""
QUEUE_BROKER: Final = "queue-broker"
"""The target of a crash window around what is sent to a queue."""
PURPOSES: Final[tuple[Purpose, ...]] = ("commit", "abort", "recovery", "start", "work")
"""In the order in which points are tried."""
LOOKUPS: Final = frozenset({"ApiVersions", "Metadata", "FindCoordinator"})
"""APIs that change nothing: a fault at one can only delay what follows."""
PERIODIC: Final = frozenset({"Fetch", "Heartbeat"})
"""APIs that a client uses by the clock, whatever happens."""
ANY: Final = "any-broker"
"""The target of a message that any broker can receive."""
_PASSES: Final = 3


@dataclass(frozen=True, kw_only=True, order=True)
class Point:
    """A message, or a crash window, by its place in the protocol.

    Attributes:
        role: of the client, such as `producer`.
        api: name in the Kafka protocol, or that of the window.
        purpose: what the message is for.
        ordinal: its place among the messages of its kind in the same transaction.
        target: role of the broker that receives the request, such as `leader`.
    """

    role: str
    direction: Direction
    api: str
    purpose: Purpose
    ordinal: Ordinal
    target: str

    @property
    def id(self) -> str:
        return (
            f"{self.role}/{self.direction}/{self.api}/{self.purpose}/{self.ordinal}/{self.target}"
        )

    @classmethod
    def parse(cls, text: str) -> Point:
        """Reverse `id`; raise `ValueError` if the text is not the id of a point."""
        names = [field.name for field in fields(cls)]
        parts = text.split("/")
        if len(parts) != len(names):
            raise ValueError(f"invalid point {text!r}: expected {'/'.join(names)}")
        return cls(**dict(zip(names, parts, strict=True)))  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class Message:
    """One observed message, or the beginning of a crash window.

    Attributes:
        unit: number of the transaction or of the commit, from 0.
        life: number of the client's process, from 1.
        ends: whether it is the response that ends a transaction or a commit of offsets; of a client
            that only reads, whether it has records; or whether it is the window that ends a unit.
    """

    unit: int
    life: int
    role: str
    direction: Direction
    api: str
    purpose: Purpose
    target: str
    ends: bool = False

    @property
    def kind(self) -> tuple[Any, ...]:
        return (self.role, self.direction, self.api, self.purpose, self.target)


def points_in(trace: Sequence[Message]) -> list[Point]:
    """Return the point of each message of a trace.

    Messages of the same kind in the same transaction are folded: first, last, and all in between.
    A single one is `first`.
    """
    of = Counter((message.unit, message.kind) for message in trace)
    seen: Counter[tuple[int, tuple[Any, ...]]] = Counter()
    found = []
    for message in trace:
        key = (message.unit, message.kind)
        seen[key] += 1
        found.append(
            Point(
                role=message.role,
                direction=message.direction,
                api=message.api,
                purpose=message.purpose,
                target=message.target,
                ordinal=_ordinal(seen[key], of[key]),
            )
        )
    return found


@dataclass(frozen=True, kw_only=True)
class Passed:
    """A point that a trial passed; the other attributes are as in `Message`."""

    point: Point
    unit: int
    life: int
    ends: bool = False

    @property
    def id(self) -> str:
        return f"{self.life}.{self.unit}{'.' if self.ends else ''} {self.point.id}"

    @classmethod
    def parse(cls, text: str) -> Passed:
        """Reverse `id`; raise `ValueError` if the text is something else."""
        numbers, _, point = text.partition(" ")
        life, unit, *ends = numbers.split(".")
        return cls(point=Point.parse(point), unit=int(unit), life=int(life), ends=bool(ends))


def passed_by(trace: Sequence[Message]) -> tuple[Passed, ...]:
    """Return what a trace passed, message by message."""
    return tuple(
        Passed(point=point, unit=message.unit, life=message.life, ends=message.ends)
        for message, point in zip(trace, points_in(trace), strict=True)
    )


@dataclass(frozen=True, kw_only=True)
class Place:
    """The place of a message in a trial.

    Attributes:
        ends: number of transactions or commits that end in the client's life before it. A refused
            one does not end.
        ended_by: the API, or the window, that ends them.
        nth: its number among the messages of its API and direction since then. Counted from the
            start of the life, it would depend on how often requests were refused and repeated.
        writes_to_come: number of responses to Produce in the same transaction that are not before
            it.
    """

    life: int
    nth: int
    ends: int = 0
    ended_by: str = "EndTxn"
    writes_to_come: int = 0


def place_of(point: Point, trace: Sequence[Passed], *, after: int | None = None) -> Place | None:
    """Return where a fault must act to meet a point in a trial like an earlier one.

    Args:
        trace: what the earlier trial passed.
        after: number of the message after which the point must come; None: in the transaction in
            the middle, if the point is there, so that there is work before and after it.

    Returns:
        The place; None if the point does not come.
    """
    found = [
        n
        for n, passed in enumerate(trace)
        if passed.point == point and n > (-1 if after is None else after)
    ]
    if not found:
        return None
    middle = max(passed.unit for passed in trace) // 2
    chosen = next((n for n in found if trace[n].unit >= middle), found[-1])
    at = found[0] if after is not None else chosen
    life = trace[at].life
    ended = [n for n in range(at) if trace[n].life == life and trace[n].ends]
    by = [trace[n].point.api for n in ended]
    same = (
        passed.life == life
        and (passed.point.api, passed.point.direction) == (point.api, point.direction)
        for passed in trace[ended[-1] + 1 if ended else 0 : at + 1]
    )
    writes = (
        (passed.point.api, passed.point.direction) == ("Produce", "response")
        and passed.unit == trace[at].unit
        for passed in trace[at:]
    )
    place = Place(life=life, nth=sum(same), writes_to_come=sum(writes))
    return replace(place, ends=by.count(by[-1]), ended_by=by[-1]) if by else place


def _ordinal(number: int, of: int) -> Ordinal:
    return "first" if number == 1 else "last" if number == of else "middle"


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """The points of a pipeline without faults.

    Attributes:
        stable: points of every run, in the order of the first run.
        unstable: points of some runs only. They are not explored.
    """

    stable: tuple[Point, ...]
    unstable: tuple[Point, ...]


def learn(traces: Iterable[Sequence[Passed]]) -> Protocol:
    """Return the points that runs without faults have in common, and the others.

    Raises:
        ValueError: there are fewer than three runs, so stability cannot be judged.
    """
    found = [dict.fromkeys(passed.point for passed in trace) for trace in traces]
    if len(found) < _PASSES:
        raise ValueError(f"{len(found)} runs without faults; expected at least {_PASSES}")
    every = set(found[0]).intersection(*found[1:])
    once = dict.fromkeys(point for points in found for point in points)
    return Protocol(
        stable=tuple(point for point in found[0] if point in every),
        unstable=tuple(point for point in once if point not in every),
    )

"""Acts: what can be done at a point. A single is one act at one point.

A broker refuses a request before it has carried it out. It answers with an error after it has only
where Kafka can: if replication, or the write to a coordinator's log, times out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, get_args

from onceproof.harness.explore.points import ANY, QUEUE_BROKER, WINDOW, Direction, Point
from onceproof.harness.links.gate.rules import Action

Breaks = Literal["killed", "isolated"]
Pauses = Literal["before", "after", "within"]


@dataclass(frozen=True, kw_only=True, order=True)
class Act:
    """One kind of fault.

    Attributes:
        direction: of the messages at which it is possible, or that of windows.
        action: what the gate does with the message; None in a window.
        error: Kafka's name of the error that the gate answers with.
        kills: whether the client is killed (SIGKILL) when the gate has the message, and restarted.
        pauses: whether the client is paused (SIGSTOP) before the message arrives, or after, or
            within a window, until others have done its work: the other member of its group, or a
            new life of it.
        breaks: how the broker that the message is on its way to fails: it is killed (SIGKILL), or
            isolated from its peers. In a window, the queue broker.
        disconnects: whether the queue broker closes the client's connections within a window.
    """

    name: str
    direction: Direction
    action: Action | None
    error: str | None = None
    kills: bool = False
    pauses: Pauses | None = None
    breaks: Breaks | None = None
    disconnects: bool = False

    @property
    def cost(self) -> int:
        """Relative cost of a trial."""
        return 4 if self.breaks else 3 if self.pauses else 2 if self.kills else 1


_ACTS: Final = (
    Act(name="request lost", direction="request", action="drop"),
    Act(name="request late", direction="request", action="hold"),
    Act(name="response lost", direction="response", action="drop"),
    Act(name="response late", direction="response", action="hold"),
    Act(name="connection closed before", direction="request", action="close-before"),
    Act(name="connection closed after", direction="request", action="close-after"),
    Act(name="request duplicated", direction="request", action="duplicate"),
    Act(name="client killed before", direction="request", action="drop", kills=True),
    Act(name="client killed after", direction="response", action="drop", kills=True),
)
_PAUSED: Final = (
    Act(name="client paused before", direction="request", action="hold", pauses="before"),
    Act(name="client paused after", direction="request", action="hold", pauses="after"),
)
_KILLED_WITHIN: Final = Act(name="client killed", direction=WINDOW, action=None, kills=True)
_PAUSED_WITHIN: Final = Act(name="client paused", direction=WINDOW, action=None, pauses="within")
_AT_QUEUES: Final = (
    Act(name="connection closed", direction=WINDOW, action=None, disconnects=True),
    Act(name="target killed", direction=WINDOW, action=None, breaks="killed"),
)
_BROKEN: Final = tuple(
    Act(name=f"target {how}", direction="request", action="hold", breaks=how)
    for how in get_args(Breaks)
)
_PRODUCER: Final = "producer"
"""The role of a client whose work no other one takes over: no group says what is left."""
_LOADING: Final = "COORDINATOR_LOAD_IN_PROGRESS"
_MOVED: Final = "NOT_COORDINATOR"
_FENCED: Final = "INVALID_PRODUCER_EPOCH"
_REMOVED: Final = "UNKNOWN_MEMBER_ID"
_REFUSALS: Final = {
    "InitProducerId": (_LOADING, _MOVED, "CONCURRENT_TRANSACTIONS"),
    "AddPartitionsToTxn": ("CONCURRENT_TRANSACTIONS", _MOVED, _FENCED),
    "AddOffsetsToTxn": ("CONCURRENT_TRANSACTIONS", _MOVED, _FENCED),
    "TxnOffsetCommit": (_LOADING, _MOVED, _REMOVED, "ILLEGAL_GENERATION", _FENCED),
    "Produce": (
        "NOT_LEADER_FOR_PARTITION", "OUT_OF_ORDER_SEQUENCE_NUMBER", _FENCED,
        "MESSAGE_SIZE_TOO_LARGE",
    ),
    "EndTxn": (_LOADING, _MOVED, _FENCED),
    "JoinGroup": (_LOADING, _MOVED, _REMOVED),
    "SyncGroup": (_MOVED, _REMOVED, "REBALANCE_IN_PROGRESS"),
    "Heartbeat": (_MOVED, _REMOVED, "REBALANCE_IN_PROGRESS"),
    "OffsetFetch": (_LOADING, _MOVED),
    "OffsetCommit": (_LOADING, _MOVED, _REMOVED, "ILLEGAL_GENERATION"),
    "ListOffsets": ("NOT_LEADER_FOR_PARTITION", "LEADER_NOT_AVAILABLE"),
    "Fetch": ("NOT_LEADER_FOR_PARTITION",),
}  # fmt: skip
"""API → errors with which brokers refuse: to retry, after a move, and to abort or give up."""
_ANSWERS: Final = {
    "InitProducerId": ("COORDINATOR_NOT_AVAILABLE",),
    "AddPartitionsToTxn": ("COORDINATOR_NOT_AVAILABLE",),
    "AddOffsetsToTxn": ("COORDINATOR_NOT_AVAILABLE",),
    "TxnOffsetCommit": ("COORDINATOR_NOT_AVAILABLE",),
    "OffsetCommit": ("COORDINATOR_NOT_AVAILABLE",),
    "Produce": ("REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"),
    "EndTxn": ("COORDINATOR_NOT_AVAILABLE",),
    # Of a broker that does not know the topic yet, or no longer.
    "Metadata": ("UNKNOWN_TOPIC_OR_PARTITION",),
}
"""API → errors that brokers answer with although they may have carried out the request."""


@dataclass(frozen=True, kw_only=True, order=True)
class Single:
    """One act at one point."""

    point: Point
    act: Act

    @property
    def id(self) -> str:
        return f"{self.act.name} @ {self.point.id}"

    @classmethod
    def parse(cls, text: str) -> Single:
        """Reverse `id`; raise `ValueError` if the text is not the id of a single."""
        name, _, at = text.partition(" @ ")
        point = Point.parse(at)
        for act in acts_at(point):
            if act.name == name:
                return cls(point=point, act=act)
        raise ValueError(f"invalid act {name!r} at {at}")


def acts_at(point: Point) -> Iterator[Act]:
    """All acts that are possible at a point."""
    if point.direction == WINDOW:
        yield from (_KILLED_WITHIN, _PAUSED_WITHIN)
        if point.target == QUEUE_BROKER:
            yield from _AT_QUEUES
        return
    yield from (act for act in _ACTS if act.direction == point.direction)
    if point.direction == "request":
        if point.role != _PRODUCER:
            yield from _PAUSED
        if point.target != ANY:
            yield from _BROKEN
        for error in _REFUSALS.get(point.api, ()):
            yield Act(name=f"refused {error}", direction="request", action="error", error=error)
    else:
        for error in _ANSWERS.get(point.api, ()):
            yield Act(name=f"answered {error}", direction="response", action="error", error=error)


def singles(points: Iterable[Point]) -> list[Single]:
    """Every act at every point."""
    return [Single(point=point, act=act) for point in points for act in acts_at(point)]

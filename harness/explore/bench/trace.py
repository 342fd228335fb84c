"""Turn what gates reported of one client into messages, by transaction and purpose.

Crash windows, which a lane may see between them, are taken for messages to the checkpoint.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from heapq import merge
from typing import Any, Final

from onceproof.harness.explore.points import ANY, WINDOW, Message, Purpose
from onceproof.harness.kafka.errors import error_name
from onceproof.harness.links.gate.rules import FETCHED

APIS: Final = (
    "ApiVersions",
    "Metadata",
    "FindCoordinator",
    "InitProducerId",
    "AddPartitionsToTxn",
    "AddOffsetsToTxn",
    "TxnOffsetCommit",
    "Produce",
    "EndTxn",
    "JoinGroup",
    "SyncGroup",
    "Heartbeat",
    "LeaveGroup",
    "OffsetFetch",
    "OffsetCommit",
    "ListOffsets",
    "Fetch",
)
"""The APIs that producers and consumers use."""
_LEADER: Final = "leader"
_OF_TRANSACTIONS: Final = "transaction-coordinator"
_OF_GROUPS: Final = "group-coordinator"
_TARGETS: Final = {
    "Produce": _LEADER,
    "ListOffsets": "input-leader",
    "Fetch": "input-leader",
    **dict.fromkeys(
        ("InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn"), _OF_TRANSACTIONS
    ),
    **dict.fromkeys(
        ("TxnOffsetCommit", "JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetFetch",
         "OffsetCommit"),
        _OF_GROUPS,
    ),
}  # fmt: skip
"""API → role of the broker that receives it; any broker receives the others."""
_RECOVERS: Final = frozenset({"InitProducerId", "JoinGroup", "SyncGroup", "OffsetFetch"})
"""APIs that a client at work uses only after a failure or a rebalance."""

_UNIT_ENDS: Final = frozenset({"EndTxn", "OffsetCommit"})

_CLIENT: Final = re.compile(r"(lane\d+)-(\d+)(?:-|$)")
"""Client ids begin with the name of the lane and the number of the client's life."""

Event = Mapping[str, Any]


def lane_and_life(client_id: str) -> tuple[str, int] | None:
    """Return the name of the lane and the number of the life; None for other clients."""
    found = _CLIENT.match(client_id)
    return None if found is None else (found[1], int(found[2]))


def merged(messages: Iterable[Event], windows: Iterable[Event]) -> list[Event]:
    """Return both by time; each of the two is in order."""
    return list(merge(messages, windows, key=lambda event: event["at"]))


def traced(events: Sequence[Event], *, role: str, reads: bool = False) -> tuple[Message, ...]:
    """Return the messages of a client's events, which are in order and have their `life`.

    A unit ends with a window, if there is one that does. Else it ends when a transaction or a
    commit of offsets does. Without them each successful Produce is one; as several may be under
    way, their ends do not divide the trace.

    With `reads` the client writes nothing to Kafka. Instead each Fetch that returns records is a
    unit, and the client works from the first one on.
    """
    unit, working, lives = 0, False, 1
    by_window = any(map(_ends_unit, events))
    ends = {event["api"] for event in events} & _UNIT_ENDS or {"Fetch" if reads else "Produce"}
    found = []
    for event in events:
        api, direction = event["api"], event["direction"]
        life = event["life"]
        if life != lives:
            lives, working = life, False
        works = _brings(event) if reads else api == "Produce"
        working |= works or (direction == WINDOW and event["purpose"] != "recovery")
        ended = api in ends and direction == "response" and _succeeded(event)
        ended &= api != "Fetch" or _brings(event)
        if by_window:
            ended = _ends_unit(event)
        found.append(
            Message(
                unit=unit,
                life=life,
                role=role,
                direction=direction,
                api=api,
                purpose=_purpose(event, working, life),
                target=event["target"] if direction == WINDOW else _TARGETS.get(api, ANY),
                ends=ended and api != "Produce",
            )
        )
        unit += ended
    return tuple(found)


def _ends_unit(event: Event) -> bool:
    return event["direction"] == WINDOW and bool(event["ends"])


def _purpose(event: Event, working: bool, life: int) -> Purpose:
    if event["direction"] == WINDOW:
        found: Purpose = event["purpose"]
        return found
    if event["api"] == "EndTxn":
        return "commit" if event["commits"] else "abort"
    if event["api"] == "OffsetCommit":
        return "commit"
    if working:
        return "recovery" if event["api"] in _RECOVERS else "work"
    return "start" if life == 1 else "recovery"


def _brings(event: Event) -> bool:
    """Whether it is a response with records."""
    return (event["direction"], event["api"]) == FETCHED and bool(event["positions"])


def _succeeded(event: Event) -> bool:
    return event.get("error") in (None, error_name(0))

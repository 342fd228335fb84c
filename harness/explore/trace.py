"""Turn what gates reported of one client into messages, by transaction and purpose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from onceproof.harness.explore.points import Message, Purpose
from onceproof.harness.kafka.errors import error_name

APIS: Final = (
    "ApiVersions",
    "Metadata",
    "FindCoordinator",
    "InitProducerId",
    "AddPartitionsToTxn",
    "Produce",
    "EndTxn",
)
"""The APIs that producers use."""
_ROLE: Final = "producer"
_LEADER: Final = "leader"
_COORDINATOR: Final = "transaction-coordinator"
_TARGETS: Final = {
    "Produce": _LEADER, "InitProducerId": _COORDINATOR, "AddPartitionsToTxn": _COORDINATOR,
    "EndTxn": _COORDINATOR,
}  # fmt: skip
"""API → role of the broker that receives it; any broker receives the others."""
_ANY: Final = "any-broker"

Event = Mapping[str, Any]


def traced(events: Iterable[Event]) -> tuple[Message, ...]:
    """Return the messages of a client's events, which are in order.

    Client ids end in `-` and the number of the life. Without transactions, a unit is a request of
    Produce and everything before it.
    """
    unit, working, lives = 0, False, 1
    found = []
    for event in events:
        api, direction = event["api"], event["direction"]
        life = int(str(event["client_id"]).rpartition("-")[2])
        if life != lives:
            lives, working = life, False
        working |= api == "Produce"
        ended = direction == "response" and _succeeded(event)
        transactional = bool(event.get("transactional_ids"))
        found.append(
            Message(
                unit=unit,
                life=life,
                role=_ROLE,
                direction=direction,
                api=api,
                purpose=_purpose(event, working, life),
                target=_TARGETS.get(api, _ANY),
                ends=ended and api == "EndTxn",
            )
        )
        if ended and api == ("EndTxn" if transactional else "Produce"):
            unit += 1
    return tuple(found)


def _purpose(event: Event, working: bool, life: int) -> Purpose:
    if event["api"] == "EndTxn":
        return "commit" if event["commits"] else "abort"
    if working:
        return "recovery" if event["api"] == "InitProducerId" else "work"
    return "start" if life == 1 else "recovery"


def _succeeded(event: Event) -> bool:
    return event.get("error") in (None, error_name(0))

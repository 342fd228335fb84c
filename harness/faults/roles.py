"""Parse targets given by role: `leader:payments-0`, `coordinator:txn:payments-writer`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Annotated, Final

from onceproof.harness.faults.targets.brokers import (
    ActiveController,
    Apart,
    CoordinatorOf,
    FollowerOf,
    LeaderOf,
    Node,
    Target,
)
from onceproof.harness.faults.words import Word
from onceproof.harness.links.topology import HTTP_SERVICE, POSTGRES, QUEUE_BROKER

_PARTITION: Final = r"(?P<topic>[A-Za-z0-9._-]+)-(?P<partition>\d+)"
_APART: Final = "/not/"
Roles = Mapping[str, tuple[str, Callable[[re.Match[str]], Target]]]
"""Syntax of each role → its pattern, and a function that makes the target from a match."""


def _led(found: re.Match[str]) -> LeaderOf:
    return LeaderOf(topic=found["topic"], partition=int(found["partition"]))


BROKERS: Final[Roles] = {
    "broker-<n>": (r"broker-\d+", lambda found: Node(name=found[0])),
    "leader:<topic>-<partition>": (f"leader:{_PARTITION}", _led),
    "follower:<topic>-<partition>": (
        f"follower:{_PARTITION}",
        lambda found: FollowerOf(topic=found["topic"], partition=int(found["partition"])),
    ),
    "coordinator:group:<id>": (
        "coordinator:group:(?P<id>.+)",
        lambda found: CoordinatorOf(of="group", name=found["id"]),
    ),
    "coordinator:txn:<id>": (
        "coordinator:txn:(?P<id>.+)",
        lambda found: CoordinatorOf(of="transaction", name=found["id"]),
    ),
    "controller": ("controller", lambda found: ActiveController()),
}
NODES: Final[Roles] = {
    **BROKERS,
    POSTGRES: (POSTGRES, lambda found: Node(name=POSTGRES)),
    QUEUE_BROKER: (QUEUE_BROKER, lambda found: Node(name=QUEUE_BROKER)),
    HTTP_SERVICE: (HTTP_SERVICE, lambda found: Node(name=HTTP_SERVICE)),
}


def role(word: str, roles: Roles) -> Target:
    """Parse a role of `roles`, or a leader or coordinator placed apart from another role.

    Raises:
        ValueError: the word names no role; the message lists the valid ones.
    """
    leader, apart, other = word.partition(_APART)
    if apart:
        match role(leader, roles):
            case LeaderOf() as first:
                return Apart(leader=first, other=role(other, roles))
            case CoordinatorOf() as first:
                # The id may contain "/not/" itself; then no valid role follows.
                with suppress(ValueError):
                    return Apart(leader=first, other=role(other, roles))
    for pattern, make in roles.values():
        if found := re.fullmatch(pattern, word):
            return make(found)
    raise ValueError(
        f"invalid target {word!r}: expected {', '.join(roles)}, or a leader or coordinator "
        f"followed by {_APART} and another of these, to move it to another broker"
    )


Broker = Annotated[Target, Word("TARGET", partial(role, roles=BROKERS))]
AnyNode = Annotated[Target, Word("TARGET", partial(role, roles=NODES))]

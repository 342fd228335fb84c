"""The messages of the transactional commit path and the faults for each, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from onceproof.harness.links.gate.rules import MessageMatch, Rule

MESSAGES: Final = (
    "InitProducerId",
    "AddPartitionsToTxn",
    "Produce",
    "AddOffsetsToTxn",
    "TxnOffsetCommit",
    "EndTxn",
)


@dataclass(frozen=True, kw_only=True)
class TargetedFault:
    """A fault for one message."""

    name: str
    direction: str
    action: str
    held_seconds: float = 0
    """How long the message is held before it is released."""
    kills: bool = False
    """Whether the broker that the message is sent to is killed while it is held."""


BLOWS: Final = (
    TargetedFault(name="request lost", direction="request", action="drop"),
    TargetedFault(name="response lost", direction="response", action="drop"),
    TargetedFault(name="held 5 s", direction="request", action="hold", held_seconds=5),
    TargetedFault(name="connection closed", direction="request", action="close-after"),
    TargetedFault(name="broker killed", direction="request", action="hold", kills=True),
)


@dataclass(frozen=True, kw_only=True)
class Combination:
    """A message and a fault for it."""

    message: str
    blow: TargetedFault

    def rule(self, transactional_id: str) -> Rule:
        match = MessageMatch(
            direction=self.blow.direction,  # type: ignore[arg-type]
            api=self.message,
            transactional_id=transactional_id,
        )
        return match.rule(self.blow.action)  # type: ignore[arg-type]


def combinations(messages: Sequence[str] = MESSAGES) -> list[Combination]:
    """Return every message with every fault; those that kill come last, as they take longest."""
    return [
        Combination(message=message, blow=blow)
        for blow in sorted(BLOWS, key=lambda blow: blow.kills)
        for message in messages
    ]

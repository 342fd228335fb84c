"""Act on a single message of Kafka's protocol."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, get_args

from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.faults.links.probed_link import wait_mended
from onceproof.harness.faults.messages.message import REQUEST_OF, AtGates, Message, met
from onceproof.harness.faults.words import Word, one_of
from onceproof.harness.kafka.errors import error_name
from onceproof.harness.links.gate.client import Event, HeldKey
from onceproof.harness.links.gate.rules import Action, Direction
from onceproof.harness.links.topology import AUDIENCES

_DOES: Final = {
    "hold": "hold",
    "drop": "drop",
    "close-before": "close the connection instead of forwarding",
    "close-after": "close the connection after",
    "duplicate": "duplicate",
    "error": "answer with an error to",
}
_NOT_DELIVERED: Final = frozenset({"drop", "close-before", "error"})
"""Actions that keep an answer from its client."""
_NONE: Final = error_name(0)
"""The error name in a successful answer."""


def _message(source: str, direction: str, api: str) -> Message:
    return Message(
        source=one_of(AUDIENCES, "audience", source),
        direction=one_of(get_args(Direction), "direction", direction),  # type: ignore[arg-type]
        api=api,
    )


def _action(word: str) -> tuple[str, str | None]:
    action, _, error = word.partition(":")
    return action, error or None


@dataclass(frozen=True, kw_only=True)
class HitMessage:
    """Act on the next message of an API: hold, drop, close-before, close-after, duplicate,
    error:NAME.

    Attributes:
        action: what happens to the message; a held one is released when the fault is healed.
        times: maximum number of messages on each link; None: no limit.
        error: Kafka's name of the error, for the action `error`.
    """

    example: ClassVar[str] = "message producer response Produce drop"
    kind: ClassVar[str] = "timeout"
    needs = "gates"
    message: Annotated[Message, Word(f"AUDIENCE {'|'.join(get_args(Direction))} API", _message)]
    action: Annotated[Action, Word("ACTION", _action, also="error")]
    times: int | None = 1
    error: str | None = None

    def __post_init__(self) -> None:
        """Raise `ValueError` if the action cannot be applied to this message."""
        if self.action not in _DOES:
            raise ValueError(f"invalid action {self.action!r}: expected {', '.join(_DOES)}")
        self.message.rule(self.action, times=self.times, error=self.error)

    def describe(self) -> str:
        text = f"{_DOES[self.action]} {self.message.describe()}"
        text += f": {self.error}" if self.error else ""
        if self.times is None:
            return text.replace(" the first ", " each ", 1)
        return text if self.times == 1 else f"{text}, {self.times} times on each link"

    def inject(self, context: RunContext, name: str) -> _Hit:
        return _Hit(context, self, name)


class _Hit:
    def __init__(self, context: RunContext, fault: HitMessage, name: str) -> None:
        self._context, self._name = context, name
        self._fault = fault
        rule = fault.message.rule(fault.action, times=fault.times, error=fault.error)
        self._gates = AtGates(context, fault.message.source, rule)
        self.target = fault.message.describe()
        self.at: int | None = None
        self._fired: list[Event] = []
        self._decided: dict[HeldKey, str] = {}
        """What became of held messages that were not forwarded: `drop`, or `error` and its name."""
        self._lock = threading.Lock()

    def evidence(self) -> str | None:
        self._learn(self._gates.fired())
        if not self._fired:
            return None
        self.at = int(self._fired[0]["at"])
        return self._summary(self._fired)

    def messages(self) -> list[dict[str, Any]]:
        """Return the messages that it has met; `became` is what happened to each."""
        placed = self._gates.arrived()
        events = [*self._gates.past, *placed]
        self._learn([event for event in events if event["event"] == "fired"])
        became = {REQUEST_OF(e): str(e["event"]) for e in events if e["event"] != "fired"}
        under_a_rule = {REQUEST_OF(event) for event in placed}
        found = []
        for event in self._fired:
            key = REQUEST_OF(event)
            held = "held" if key in under_a_rule else "delivered"
            otherwise = held if self._fault.action == "hold" else self._fault.action
            found.append(
                {**event, "became": self._decided.get(key) or became.get(key) or otherwise}
            )
        return found

    def _learn(self, fired: Sequence[Event]) -> None:
        """Remember events, also when the rules that reported them are removed."""
        known = {REQUEST_OF(event): event for event in (*self._fired, *fired)}
        self._fired = sorted(known.values(), key=lambda event: int(event["at"]))

    @property
    def holding(self) -> bool:
        return any(message["became"] == "held" for message in self.messages())

    def decide(self, *, drop: bool = False, error: str | None = None) -> bool:
        self.evidence()
        if not self.holding:
            return False
        with self._lock:
            held = self._gates.decide(drop=drop, error=error)
            if drop or error is not None:
                word = "drop" if drop else f"error {error}"
                self._decided |= dict.fromkeys(held, word)
        self.messages()  # one may have come since
        return bool(held)

    def heal(self) -> None:
        self.evidence()
        with self._lock:
            self._gates.remove()
        self.messages()
        wait_mended(self._context, self._gates.links)

    def after_collect(self, known: Collected) -> None:
        """Record a commit of whose success its client was not told."""
        message = self._fault.message
        ended = [
            e
            for e in self._fired
            if e["commits"]
            and e.get("error") == _NONE
            and (self._fault.action in _NOT_DELIVERED or REQUEST_OF(e) in self._decided)
        ]
        if message.api == "EndTxn" and message.direction == "response" and ended:
            self._context.recorder.hazard(
                "unknown-end",
                hop="produce" if message.source == "producer" else "process",
                at=int(ended[0]["at"]),
                fault=self._name,
                detail=self._summary(ended),
            )

    def _summary(self, fired: Sequence[Event]) -> str:
        texts = []
        for event in fired:
            then = self._decided.get(REQUEST_OF(event))
            texts.append(f"{met(event)}, then {then}" if then else met(event))
        return f"{self._fault.action}: {'; '.join(texts)}"

"""Match messages of Kafka's protocol by API, direction and contents.

They are matched and counted on the links to all brokers, since any may be leader or coordinator.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.links.gate.client import Event, HeldKey, Placed
from onceproof.harness.links.gate.rules import MessageMatch, Rule
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.trouble import StageTrouble


@dataclass(frozen=True, kw_only=True)
class Message(MessageMatch):
    """A message between an audience (`source`) and any broker."""

    source: str

    def describe(self) -> str:
        carried = [
            f"{name.replace('_', ' ')} {value}"
            for name in ("topic", "transactional_id", "group", "client_id")
            if (value := getattr(self, name)) is not None
        ]
        if self.commits is not None:
            carried.append("a commit" if self.commits else "an abort")
        if self.partitions is not None:
            carried.append(f"offsets of at least {self.partitions} partitions")
        if self.refused is not None:
            carried.append("with an error" if self.refused else "without an error")
        message = f"{self.api} {self.direction}"
        which = f"the first {message}" if self.nth == 1 else f"{message} no. {self.nth}"
        text = f"{which} of {self.source}"
        return f"{text} ({', '.join(carried)})" if carried else text


class AtGates:
    """Rules for one message, on every link that it may take."""

    def __init__(self, context: RunContext, source: str, rule: Rule) -> None:
        """Place the rules; raise `StageTrouble` if a link cannot have a gate."""
        self._context, self._rule = context, rule
        self._links = [Link(source, node) for node in context.stage.brokers]
        self._placed: list[Placed] = []
        self.past: list[Event] = []
        """Events of all kinds of rules that were removed."""
        self.put_anew()

    def put_anew(self) -> None:
        """Replace the rules, which releases held messages; raise `StageTrouble` as above."""
        self.remove()
        with ExitStack() as undo:
            undo.callback(self.remove)
            for link in self._links:
                self._placed.append(self._context.stage.gate(link).put(self._rule))
            undo.pop_all()  # from here on, the owner removes them

    @property
    def links(self) -> tuple[Link, ...]:
        return tuple(self._links)

    def fired(self) -> list[Event]:
        """Return the gates' events of every match, in order."""
        placed = tuple(self._placed)
        events: Iterable[Event] = (event for each in placed for event in each.fired)
        return sorted(events, key=lambda event: int(event["at"]))

    def arrived(self) -> list[Event]:
        """Return the events of all kinds of the rules that are placed, without asking the gates."""
        events = (event for placed in tuple(self._placed) for event in placed.arrived())
        return sorted(events, key=lambda event: int(event["at"]))

    def decide(self, *, drop: bool, error: str | None) -> list[HeldKey]:
        """Remove the rules; forward what they hold, lose it, or answer with an error.

        Return what they held.

        Raises:
            StageTrouble: no message can be answered with this error; they are still held.
        """
        found: list[HeldKey] = []
        troubles: list[StageTrouble] = []
        for placed in tuple(self._placed):
            try:
                found += placed.remove(drop=drop, error=error)
            except StageTrouble as trouble:
                troubles.append(trouble)
            else:
                self.past += placed.arrived()
                self._placed.remove(placed)
        if troubles and not found:
            raise troubles[0]
        return found

    def remove(self) -> None:
        """Remove the rules, which releases held messages."""
        while self._placed:
            placed = self._placed[-1]
            placed.remove()
            self.past += placed.arrived()
            self._placed.pop()


class MessageReports:
    """Report several messages of the pipeline as they pass, from construction until `remove`."""

    def __init__(self, context: RunContext, messages: Iterable[Message]) -> None:
        """Place the rules; raise `StageTrouble` if a link of the pipeline cannot have a gate."""
        self._gates: list[AtGates] = []
        with ExitStack() as undo:
            undo.callback(self.remove)
            for message in messages:
                rule = message.rule("report", times=None)
                self._gates.append(AtGates(context, message.source, rule))
            undo.pop_all()

    def fired(self) -> list[Event]:
        """Return the events of all messages that passed, in order."""
        events = (event for gates in self._gates for event in gates.fired())
        return sorted(events, key=lambda event: int(event["at"]))

    def remove(self) -> None:
        while self._gates:
            self._gates[-1].remove()
            self._gates.pop()


def positions_in(event: Event, topics: Collection[str]) -> dict[tuple[str, int], int]:
    """Return the offsets in some topics that a request, or a response to Fetch, contains."""
    return {
        (name, partition): offset
        for name, partition, offset in event["positions"]
        if name in topics
    }


REQUEST_OF: Final = itemgetter("link", "connection", "correlation_id")
"""Key shared by the events of a request and of its answer."""


def met(event: Event) -> str:
    """Describe a matched message."""
    which = f"{event['api']} {event['direction']} {event['correlation_id']}"
    return f"{which} (version {event['version']}) of {event['client_id']} on {event['link']}"

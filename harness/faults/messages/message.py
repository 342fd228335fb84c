"""Which message of Kafka's protocol: the n-th request or response of an API, by what it carries.

Who leads or coordinates may be any broker, so it is looked for on the links
of its source to every broker, and counted on each of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.links.gate.client import Event, Placed
from onceproof.harness.links.gate.rules import MessageMatch, Rule
from onceproof.harness.links.topology import Link


@dataclass(frozen=True, kw_only=True)
class Message(MessageMatch):
    """A message on its way between an audience, its source, and any broker."""

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
            carried.append(f"positions of {self.partitions} partitions or more")
        if self.refused is not None:
            carried.append("a refusal" if self.refused else "without an error")
        which = "the first" if self.nth == 1 else f"number {self.nth} of the"
        words = f"{which} {self.api} {self.direction} of {self.source}"
        return f"{words} ({', '.join(carried)})" if carried else words


class AtGates:
    """Rules for one message on every link that it may take."""

    def __init__(self, context: RunContext, source: str, rule: Rule) -> None:
        """Put them there.

        Raises:
            StageTrouble: a link cannot have a gate.
        """
        self._context, self._rule = context, rule
        self._links = [Link(source, node) for node in context.stage.brokers]
        self._placed: list[Placed] = []
        self.put_anew()

    def put_anew(self) -> None:
        """Begin again with rules that have met nothing; what was held goes on its way.

        Raises:
            StageTrouble: a link cannot have a gate.
        """
        self.remove()
        with ExitStack() as undo:
            undo.callback(self.remove)
            for link in self._links:
                self._placed.append(self._context.stage.gate(link).put(self._rule))
            undo.pop_all()  # from here on, whoever has this removes them

    @property
    def links(self) -> tuple[Link, ...]:
        return tuple(self._links)

    def fired(self) -> list[Event]:
        """The gate's events of every time that one acted, in order."""
        events: Iterable[Event] = (event for placed in self._placed for event in placed.fired)
        return sorted(events, key=lambda event: int(event["at"]))

    def remove(self) -> None:
        """Let them act no more; what they hold goes on its way."""
        while self._placed:
            self._placed[-1].remove()
            self._placed.pop()


class Reports:
    """What passes of several messages of the pipeline, from now on until it is removed."""

    def __init__(self, context: RunContext, messages: Iterable[Message]) -> None:
        """Place the rules that report.

        Raises:
            StageTrouble: a link of the pipeline cannot have a gate.
        """
        self._gates: list[AtGates] = []
        with ExitStack() as undo:
            undo.callback(self.remove)
            for message in messages:
                rule = message.rule("report", times=None)
                self._gates.append(AtGates(context, message.source, rule))
            undo.pop_all()

    def fired(self) -> list[Event]:
        """All that has passed, in order."""
        events = (event for gates in self._gates for event in gates.fired())
        return sorted(events, key=lambda event: int(event["at"]))

    def remove(self) -> None:
        """Report no more."""
        while self._gates:
            self._gates[-1].remove()
            self._gates.pop()


def positions_in(event: Event, topics: Collection[str]) -> dict[tuple[str, int], int]:
    """The positions in some topics that a request has."""
    return {
        (name, partition): offset
        for name, partition, offset in event["positions"]
        if name in topics
    }


REQUEST_OF: Final = itemgetter("link", "connection", "correlation_id")
"""What an event says of which request it was, or of which one it was the answer."""


def met(event: Event) -> str:
    """A firing in words."""
    which = f"{event['api']} {event['direction']} {event['correlation_id']}"
    return f"{which} (version {event['version']}) of {event['client_id']} on {event['link']}"

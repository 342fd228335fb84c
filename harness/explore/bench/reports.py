"""Distribute the events of the gates to the lanes that they are about."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Final

from onceproof.harness.explore.bench.lanes.base import Lane
from onceproof.harness.explore.bench.trace import APIS, lane_and_life
from onceproof.harness.explore.points import DIRECTIONS
from onceproof.harness.links.gate.client import Event, Gate, Placed
from onceproof.harness.links.gate.rules import MessageMatch
from onceproof.harness.wait import Stop

_EVERY: Final = 0.01


class Reports:
    """The messages of every lane, and the firings of every rule. Thread-safe.

    Events that come after `settle` was called are in the lists when it returns.
    """

    def __init__(self, gate: Gate, reporting: set[int], stop: Stop) -> None:
        """`reporting` are the ids of the rules that report every message."""
        self._gate, self._reporting, self._stop = gate, reporting, stop
        self._read = 0
        self._alone: Lane | None = None
        self._lives: dict[tuple[str, int], int] = {}
        self._messages: dict[str, list[Event]] = defaultdict(list)
        self._rules: dict[int, list[Event]] = defaultdict(list)
        self._changed = threading.Condition()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join()

    def take_all_for(self, lane: Lane) -> None:
        """From now on take all messages for those of one lane, whatever their client ids are."""
        with self._changed:
            self._alone = lane

    def messages(self, lane: str) -> list[Event]:
        """Return the messages of a lane's client, in order, each with its `life`."""
        with self._changed:
            return list(self._messages[lane])

    def of_rule(self, rule: Placed, event: str) -> list[Event]:
        with self._changed:
            return [e for e in self._rules[rule.id] if e["event"] == event]

    def wait(self, reached: Callable[[], bool], seconds: float) -> bool:
        """Wait until a condition holds; return whether it does within some seconds."""
        deadline = self._stop.monotonic() + seconds
        while not reached():
            self._stop.check()
            left = deadline - self._stop.monotonic()
            if left <= 0:
                return False
            with self._changed:
                self._changed.wait(min(left, 0.1))
        return True

    def settle(self) -> None:
        """Take all events that the gates have reported so far."""
        self._gate.state()
        self._take()

    def forget(self, lane: str) -> None:
        with self._changed:
            self._messages.pop(lane, None)

    def _follow(self) -> None:
        while not self._over.wait(_EVERY):
            self._take()

    def _take(self) -> None:
        with self._changed:
            new = self._gate.arrived(self._read)
            self._read += len(new)
            for event in new:
                rule = event.get("rule")
                if event["event"] == "fired" and rule in self._reporting:
                    if (found := self._of(event)) is not None:
                        lane, life = found
                        self._messages[lane].append({**event, "life": life})
                elif rule is not None:
                    self._rules[rule].append(event)
            if new:
                self._changed.notify_all()

    def _of(self, event: Event) -> tuple[str, int] | None:
        """Return the name of a message's lane and the number of its life.

        In a lane that is alone, a connection is of the life that was the last one when it began.
        """
        if self._alone is None:
            return lane_and_life(str(event["client_id"]))
        connection = (event["link"], event["connection"])
        life = self._lives.setdefault(connection, max(1, len(self._alone.lives)))
        return self._alone.name, life


def report_everything(gate: Gate, links: list[str]) -> set[int]:
    """Let gates report all messages of clients; return the ids of the rules."""
    return {
        gate.put(links, MessageMatch(direction=direction, api=api).rule("report", times=None)).id
        for api in APIS
        for direction in DIRECTIONS
    }

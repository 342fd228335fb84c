"""Faults that wait for their point: a rule of a gate for a message, a trigger for a window."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from onceproof.harness.explore.bench.reports import Reports
from onceproof.harness.explore.trials import Aimed
from onceproof.harness.links.gate.client import Event, Gate, Placed
from onceproof.harness.links.gate.rules import FETCHED, MessageMatch


class Armed(Protocol):
    """A fault that waits for its point."""

    def arm(self) -> None:
        """Let it act from now on."""

    def met(self) -> Sequence[Event]:
        """Return what it acted on."""

    def not_met(self) -> str:
        """Return how the client went on or ended, as it did not act."""

    def remove(self) -> None:
        """Let it act no longer, also if it is armed only later."""


@dataclass(kw_only=True)
class ArmedRule:
    """A rule for a message.

    Attributes:
        client_id: of the client, as `MessageMatch` takes it.
        counted: whether the gate counts the ends of units; else it counts from `arm` on.
    """

    aimed: Aimed
    client_id: str | None
    counted: bool
    gate: Gate
    links: Sequence[str]
    reports: Reports
    _placed: list[Placed] = field(default_factory=list, init=False)
    _removed: bool = field(default=False, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    @property
    def rule(self) -> Placed:
        """The rule; it must be armed."""
        return self._placed[-1]

    def arm(self) -> None:
        with self._lock:
            if not self._removed:
                self._place()

    def _place(self) -> None:
        act, place, api = self.aimed.single.act, self.aimed.place, self.aimed.single.point.api
        assert act.direction != "window"
        assert act.action is not None
        after = None
        if self.counted and place.ends:
            reads = place.ended_by == FETCHED[1]
            ended = MessageMatch(
                direction="response",
                api=place.ended_by,
                client_id=self.client_id,
                nth=place.ends,
                refused=None if reads else False,
                records=True if reads else None,
            )
            after = self.gate.put(self.links, ended.rule("report"))
            self._placed.append(after)
        match = MessageMatch(
            direction=act.direction, api=api, client_id=self.client_id, nth=place.nth
        )
        # A message that is sent again must not reach a broker that is about to fail.
        wanted = match.rule(act.action, error=act.error, times=None if act.breaks else 1)
        self._placed.append(self.gate.put(self.links, wanted, after=after))

    def met(self) -> list[Event]:
        return self.reports.of_rule(self.rule, "fired") if self._placed else []

    def not_met(self) -> str:
        return "without the message"

    def remove(self) -> None:
        with self._lock:
            self._removed = True
        for placed in reversed(self._placed):
            placed.remove()

"""Close the connection in place of every answer to a Produce request.

The broker appends every request, so a send that was in the log when we looked can be acknowledged
only by a retry. This needs no report from a client, so it works for all clients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.faults.links.probed_link import wait_mended
from onceproof.harness.faults.links.retried import note_retried
from onceproof.harness.faults.roles import Broker
from onceproof.harness.history.identity import ATTEMPT_HEADER
from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.gate.rules import MessageMatch
from onceproof.harness.links.topology import Link, node_id

_ENDS: Final = 2
"""Minimum number of closed connections: a client that reconnected was cut off again."""
_ONLY_REPEATED: Final = 10
"""Closed connections without an appended send after which the fault starts over."""


@dataclass(frozen=True, kw_only=True)
class LeaveUnanswered:
    """Close the producers' connections to a broker in place of every answer to a Produce."""

    example: ClassVar[str] = "unanswered leader:payments-0"
    kind: ClassVar[str] = "timeout"
    needs = "gates"
    target: Broker
    seconds: float = 1.0
    """Minimum duration. To make a client give up, longer than its time-out for an answer."""

    def describe(self) -> str:
        return (
            f"close the producers' connections to {self.target.describe()} instead of answering "
            f"Produce requests, for at least {self.seconds:g} s"
        )

    def inject(self, context: RunContext, name: str) -> _Unanswered:
        return _Unanswered(context, self, name)


class _Unanswered:
    def __init__(self, context: RunContext, fault: LeaveUnanswered, name: str) -> None:
        self._context = context
        self._fault = fault
        self._name = name
        self._in_force = False
        self._seen: dict[str, int] = {}
        self._proof: str | None = None
        self._begin()

    def _begin(self) -> None:
        node = self._fault.target.resolve(self._context)
        self._number = node_id(node)
        self._link = Link("producer", node)
        self.target = str(self._link)
        gate = self._context.stage.gate(self._link)
        # Read before the rule is placed; sends answered in between are filtered in
        # `after_collect`.
        self._starts = self._ends()
        self._placed = gate.put(
            MessageMatch(direction="response", api="Produce").rule("close-before", times=None)
        )
        self.at = now()
        self._in_force = True

    def evidence(self) -> str | None:
        """Return how many connections ended, and how many sends are in the log unanswered."""
        if self._proof is None and now() - self.at >= self._fault.seconds * 1e9:
            ended = len(self._placed.fired)
            attempts = self._appended() if ended >= _ENDS else []
            if self._leads() != self._starts.keys() or (not attempts and ended >= _ONLY_REPEATED):
                self._start_over()
            elif attempts:
                self._seen = dict.fromkeys(attempts, now())
                self._proof = (
                    f"{ended} connections on {self._link} closed instead of answering a Produce "
                    f"request; {len(self._seen)} sends were in the log by then"
                )
        return self._proof

    def heal(self) -> None:
        """Let answers through on new connections only, so that no late answer arrives."""
        if self._in_force:
            self._lift()
        wait_mended(self._context, [self._link])

    def _lift(self) -> None:
        hold = self._context.stage.disturb(self._link, CUT)
        try:
            self._placed.remove()
            self._in_force = False
        finally:
            hold.release()

    def after_collect(self, known: Collected) -> None:
        """Record sends that were in the log when we looked and were acknowledged only later."""
        note_retried(
            self._context,
            known,
            self._seen,
            fault=self._name,
            where=self._link.target,
            why="none of its answers arrived",
        )

    def _leads(self) -> set[tuple[str, int]]:
        context = self._context
        return {(t, p) for t in context.topics for p in context.led_by(self._number, t)}

    def _ends(self) -> dict[tuple[str, int], int]:
        led = self._leads()
        with self._context.reader() as reader:
            return reader.high_watermarks(led)

    def _start_over(self) -> None:
        """Let answers through once, and begin again.

        Another broker may have answered if the broker's leaderships changed. An idempotent client
        whose requests in flight were appended before the fault began only repeats them.
        """
        self._lift()
        self._begin()

    def _appended(self) -> list[str]:
        """Return the attempts appended since the fault began."""
        found = []
        with self._context.reader() as reader:
            for (topic, partition), start in self._starts.items():
                found += reader.read(topic, partition, start).entries
        return [
            entry.headers[ATTEMPT_HEADER].decode()
            for entry in found
            if entry.kind == "data" and ATTEMPT_HEADER in entry.headers
        ]

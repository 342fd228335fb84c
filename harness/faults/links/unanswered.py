"""Every answer to a Produce request withheld: the connection ends in its place, again and again.

The broker appends every request, and each client hears nothing but that its
connection is gone. What the log held when we looked, with no answer let through by then, can only
have been acknowledged later by a retry. It needs no word of a client, so it works for all of them.
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
"""How many connections must have ended: a client that came back was turned away again."""


@dataclass(frozen=True, kw_only=True)
class LeaveUnanswered:
    """Close the producers' connections to a broker in place of every answer to a Produce.

    Attributes:
        target: the broker.
        seconds: for how long at least; longer than a client waits for an answer at all, where it is
            to give up.
    """

    example: ClassVar[str] = "unanswered leader:payments-0"
    kind: ClassVar[str] = "timeout"
    needs = "gates"
    target: Broker
    seconds: float = 1.0

    def describe(self) -> str:
        return (
            f"close the producers' connections to {self.target.describe()} in place of every "
            f"answer to a Produce, for at least {self.seconds:g} s"
        )

    def inject(self, context: RunContext, name: str) -> _Unanswered:
        return _Unanswered(context, self.target.resolve(context), name, self.seconds)


class _Unanswered:
    def __init__(self, context: RunContext, node: str, name: str, seconds: float) -> None:
        self._context = context
        self._name = name
        self._number = node_id(node)
        self._link = Link("producer", node)
        self._seconds = seconds
        self.target = str(self._link)
        gate = context.stage.gate(self._link)
        # Read before the rule is put: what is answered after that is filtered in `after_collect`.
        self._starts = self._ends()
        self._placed = gate.put(
            MessageMatch(direction="response", api="Produce").rule("close-before", times=None)
        )
        self.at = now()
        self._in_force = True
        self._seen: dict[str, int] = {}
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """Connections that ended so, and sends that are in the log without an answer."""
        if self._proof is None and now() - self.at >= self._seconds * 1e9:
            ended = len(self._placed.fired)
            if ended >= _ENDS and self._look():
                self._proof = (
                    f"{ended} connections on {self._link} closed in place of an answer to a "
                    f"Produce; {len(self._seen)} sends stood in the log by then"
                )
        return self._proof

    def heal(self) -> None:
        """Let answers through again, to new connections only: none that is late comes after all."""
        if self._in_force:
            hold = self._context.stage.disturb(self._link, CUT)
            try:
                self._placed.remove()
                self._in_force = False
            finally:
                hold.release()
        wait_mended(self._context, [self._link])

    def after_collect(self, known: Collected) -> None:
        """A retried send: seen in the log unanswered, acknowledged only after we looked."""
        note_retried(
            self._context,
            known,
            self._seen,
            fault=self._name,
            where=self._link.target,
            why="no answer of it came through",
        )

    def _leads(self) -> set[tuple[str, int]]:
        context = self._context
        return {(t, p) for t in context.topics for p in context.led_by(self._number, t)}

    def _ends(self) -> dict[tuple[str, int], int]:
        """Where each partition ends that the broker leads."""
        led = self._leads()
        with self._context.reader() as reader:
            return reader.high_watermarks(led)

    def _look(self) -> bool:
        """Note what was appended since it began; only while nobody else can have answered.

        If the broker leads other partitions than before, begin again with those.
        """
        found = []
        with self._context.reader() as reader:
            for (topic, partition), start in self._starts.items():
                found += reader.read(topic, partition, start).entries
        attempts = [
            entry.headers[ATTEMPT_HEADER].decode()
            for entry in found
            if entry.kind == "data" and ATTEMPT_HEADER in entry.headers
        ]
        if self._leads() != self._starts.keys():
            self._starts = self._ends()
            return False
        if not attempts:
            return False
        self._seen = dict.fromkeys(attempts, now())
        return True

"""Drop a broker's responses to the producers, until their requests time out and are retried.

The broker still appends every request. What it appended meanwhile is acknowledged only by a retry,
which idempotence must recognize.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.clock import clock_id, now
from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.faults.links.retried import note_retried
from onceproof.harness.faults.roles import Broker
from onceproof.harness.history.identity import ATTEMPT_HEADER, RECORD_HEADER
from onceproof.harness.links.disturbances import lose
from onceproof.harness.links.topology import Link, node_id
from onceproof.harness.workload.senders.librdkafka import REQUEST_TIMEOUT_MS

_FIRST_TIMEOUT_NS = REQUEST_TIMEOUT_MS * 1_000_000
"""Nanoseconds before which no request can have timed out because of this fault. The clients'
statistics come late, so earlier time-outs have other causes."""


@dataclass(frozen=True, kw_only=True)
class LoseResponses:
    """Drop a broker's responses to the producers."""

    example: ClassVar[str] = "lose-responses leader:payments-0"
    kind: ClassVar[str] = "timeout"
    needs = "links"
    target: Broker

    def describe(self) -> str:
        return f"drop the responses of {self.target.describe()} to the producers"

    def inject(self, context: RunContext, name: str) -> _Lost:
        return _Lost(context, self.target.resolve(context), name)


class _Lost:
    def __init__(self, context: RunContext, node: str, name: str) -> None:
        self._context = context
        self._name = name
        self._node = node
        self._number = node_id(node)
        self._link = Link("producer", node)
        self.target = str(self._link)
        self._timeouts = 0
        # Read before responses are dropped, to cover requests in flight; sends that were already
        # answered are filtered in `after_collect` by when they returned.
        self._starts = self._ends()
        self._hold = context.stage.disturb(self._link, lose("responses"))
        self.at = now()
        self._seen: dict[str, int] = {}

    def evidence(self) -> str | None:
        """Return how many requests timed out, as counted by the clients."""
        current = self._context.producers.timeouts(self._number)
        if now() - self.at < _FIRST_TIMEOUT_NS:
            self._timeouts = current
        timeouts = current - self._timeouts
        if timeouts <= 0:
            return None
        self._look()
        return f"{timeouts} requests of the producers to {self._node} timed out"

    def heal(self) -> None:
        """Let responses through; Toxiproxy closes the connections that lost bytes."""
        self._hold.release()

    def after_collect(self, known: Collected) -> None:
        """Record sends that were in the log when we looked and were acknowledged only later."""
        note_retried(
            self._context,
            known,
            self._seen,
            fault=self._name,
            where=self._node,
            why="their responses were dropped",
        )

    def _ends(self) -> dict[int, int]:
        led = self._context.led_by(self._number)
        with self._context.reader() as reader:
            ends = reader.ends(self._context.topic)
            return {p: ends[p][1] for p in led}

    def _look(self) -> None:
        """Read what was appended since the fault began, as a concurrent reader would."""
        if self._seen:
            return
        rows = []
        with self._context.reader() as reader:
            for partition, start in self._starts.items():
                for entry in reader.read(self._context.topic, partition, start).entries:
                    attempt = entry.headers.get(ATTEMPT_HEADER, b"").decode()
                    record = entry.headers.get(RECORD_HEADER, b"").decode()
                    at = now()
                    if entry.kind == "data" and attempt:
                        self._seen[attempt] = at
                        rows.append((entry, record, attempt, at))
        self._context.recorder.history.write_all(
            "reads",
            [
                {
                    "reader": "auditor",
                    "session": f"auditor during «{self._name}» {entry.partition}",
                    "ordinal": ordinal,
                    "isolation": "read_uncommitted",
                    "topic": entry.topic,
                    "partition": entry.partition,
                    "offset": entry.offset,
                    "record": record,
                    "attempt": attempt,
                    "at": at,
                    "clock": clock_id(),
                }
                for ordinal, (entry, record, attempt, at) in enumerate(rows)
            ],
        )

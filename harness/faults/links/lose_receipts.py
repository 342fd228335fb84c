"""Drop the queue broker's responses to the producers.

A message that is in the queue but unanswered is acknowledged only after a retry, which duplicate
detection must recognize.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.faults.links.probed_link import OnLink
from onceproof.harness.faults.links.retried import note_retried
from onceproof.harness.faults.links.silence import Silence
from onceproof.harness.history.identity import ATTEMPT_HEADER
from onceproof.harness.links.disturbances import lose
from onceproof.harness.links.topology import QUEUE_BROKER, Link

_WAY: Final = Link("producer", QUEUE_BROKER)


@dataclass(frozen=True, kw_only=True)
class LoseReceipts:
    """Drop the queue broker's responses to the producers."""

    example: ClassVar[str] = "lose-receipts"
    kind: ClassVar[str] = "timeout"
    needs = "queues"

    def describe(self) -> str:
        return "drop the responses of the queue broker to the producers"

    def inject(self, context: RunContext, name: str) -> _Lost:
        return _Lost(context, name)


class _Lost(OnLink):
    def __init__(self, context: RunContext, name: str) -> None:
        with context.reader() as reader:
            self._start = reader.ends(context.topic)[0][1]
        super().__init__(context, _WAY, lose("responses"), Silence())
        self._name = name
        self._arrived: dict[str, int] = {}

    def evidence(self) -> str | None:
        """Return what the probe met, and how many messages arrived since just before it started."""
        met = super().evidence()
        if met is None:
            return None
        if not self._arrived:
            with self._context.reader() as reader:
                (log,) = reader.read_topic(self._context.topic, {0: self._start})
            attempts = (entry.headers.get(ATTEMPT_HEADER) for entry in log.entries)
            self._arrived = dict.fromkeys((a.decode() for a in attempts if a), now())
        if not self._arrived:
            return None
        return f"{met}; {len(self._arrived)} messages arrived since just before the fault"

    def after_collect(self, known: Collected) -> None:
        """Record sends that were in the queue when we looked and were acknowledged only later."""
        note_retried(
            self._context,
            known,
            self._arrived,
            fault=self._name,
            where=QUEUE_BROKER,
            why="its responses were dropped",
        )

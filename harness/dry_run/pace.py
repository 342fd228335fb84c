"""Measure how fast a pipeline processes its inputs, and how long it pauses between two writes."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.user_pipeline.program import AWAY, Program

_EVERY: Final = 0.2
_LATE_SECONDS: Final = 1.0
"""A pipeline is slow if, after the last record was sent, it needs this much more than its longest
pause to process all of them."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What was measured.

    Attributes:
        pause: longest pause in seconds between two writes while inputs waited.
        speed: inputs per second, if it did not keep up with the producers; else None.
    """

    pause: float = 0.0
    speed: float | None = None


class PaceMeter:
    """Watches the outputs of a program from `start` to `stop`, but not those of a Spark job."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._stopped = threading.Event()
        self._longest = 0.0
        self._began = self._now()
        self._sent: tuple[float, int] | None = None
        """When all records were sent, and how many."""
        self._done: float | None = None
        """When all of these had their effects."""
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        if isinstance(self._context.pipeline, Program):
            self._began = self._now()
            self._thread.start()

    def stop(self) -> Measured:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()
        return Measured(pause=self._longest, speed=self._speed())

    def _speed(self) -> float | None:
        if self._sent is None or self._done is None:
            return None
        at, count = self._sent
        if self._done - at <= self._longest + _LATE_SECONDS:
            return None
        return round(count / (self._done - self._began), 1)

    def _watch(self) -> None:
        pipeline, producers = self._context.pipeline, self._context.producers
        assert isinstance(pipeline, Program), "only programs are watched"
        since, changes = self._now(), pipeline.look.changes
        while not self._stopped.wait(_EVERY):
            finished = producers.finished
            if finished and self._sent is None:
                self._sent = self._now(), producers.acknowledged
            try:
                pipeline.look.size()
                waits = pipeline.look.waits()
            except AWAY:
                continue
            if finished and producers.workload.rounds > 1:
                waits = False  # a window is closed only by the next input
            elif finished and not waits and self._done is None:
                self._done = self._now()
            written = pipeline.look.changes != changes
            if waits or written:
                # Count also the pause before a write after which no input waits any more.
                self._longest = max(self._longest, self._now() - since)
            if written or not waits:
                since, changes = self._now(), pipeline.look.changes

    def _now(self) -> float:
        return self._context.stop.monotonic()

"""Strike a Spark driver in a window of a micro-batch.

Commit log, state and sink show whether the frozen driver is in the window.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from onceproof.harness.processes.processes import Process
from onceproof.harness.subjects.crash_point_trigger import CrashPointTrigger
from onceproof.harness.subjects.spark.checkpoint import CheckpointWatch
from onceproof.harness.subjects.spark.crash_points import Sign, Window


class SinkProgress(Protocol):
    """What a trigger needs to know of the sink, from any thread."""

    def size(self) -> int:
        """Return a number that grows with every visible effect."""

    def of(self, batch: int) -> tuple[int, int]:
        """Return how many of a batch's records have effects in the sink, and how many it has."""


class SparkCrashPointTrigger(CrashPointTrigger):
    """Strikes one driver in one window."""

    def __init__(
        self,
        window: Window,
        *,
        watch: CheckpointWatch,
        driver: Callable[[], Process | None],
        sink: SinkProgress,
        strike: Callable[[Process], None],
    ) -> None:
        """Arm the trigger; `strike` hits the frozen driver."""
        self._window = window
        self._checkpoint = watch.checkpoint
        self._sink = sink
        super().__init__(
            watch,
            process=driver,
            halt=lambda process: process.freeze(),
            strike=strike,
        )

    def _seen(self, sign: Sign, batch: int) -> None:
        """Called in the watch's thread, so return soon unless the driver is frozen."""
        if self._over.is_set() or sign != self._window.sign or not self._has_records(batch):
            return
        if self._window.growing:
            threading.Thread(target=self._wait_growth, args=(batch,), daemon=True).start()
        else:
            self._try_strike(batch)

    def _wait_growth(self, batch: int) -> None:
        try:
            before = self._sink.size()
            while not self._over.is_set() and batch not in self._checkpoint.committed():
                grown = self._sink.size()
                if grown > before:
                    before = grown
                    self._try_strike(batch)
        except Exception as error:
            self._fail(error)

    def _look(self, batch: int) -> tuple[str, ...] | None:
        if (batch in self._checkpoint.committed()) is not self._window.committed:
            return None
        if self._window.committed and batch + 1 in self._checkpoint.planned():
            return None
        if not self._window.state(*self._checkpoint.state_of(batch).progress):
            return None
        return () if self._window.holds(*self._sink.of(batch)) else None

    def _has_records(self, batch: int) -> bool:
        return any(start < end for start, end in self._checkpoint.range_of(batch).values())

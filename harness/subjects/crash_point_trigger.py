"""Kills a driver in a window: it is frozen at the first sign, looked at, then killed or let go.

A frozen driver's batch cannot end, so there is time to look at checkpoint
and sink; what is not in the window is thawed, counted as a miss, and waited for again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from onceproof.harness.clock import now
from onceproof.harness.stage.processes import Process
from onceproof.harness.subjects.checkpoint import Checkpoint, CheckpointWatch
from onceproof.harness.subjects.windows import Sign, Window


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A driver killed in a window.

    Attributes:
        batch: the micro-batch whose window it was.
        instance: the life of the driver that ended.
        processes: how many processes that were.
        misses: how often it was frozen and let go before.
        at: when it ended.
    """

    batch: int
    instance: str
    processes: int
    misses: int
    at: int


class SinkLook(Protocol):
    """What a crash-point trigger asks of the sink, from any thread."""

    def size(self) -> int:
        """A number that grows with every effect that becomes visible."""

    def of(self, batch: int) -> tuple[int, int]:
        """How many of a batch's records have effects in the sink, and how many it has."""


class CrashPointTrigger:
    """One driver, one window."""

    def __init__(
        self,
        window: Window,
        *,
        watch: CheckpointWatch,
        driver: Callable[[], Process | None],
        sink: SinkLook,
        how: str,
    ) -> None:
        """Lie in wait from now on; `how` is what is noted of the driver's end."""
        self.hit: Hit | None = None
        self.error: Exception | None = None
        """What went wrong while it lay in wait; it is over then."""
        self._window = window
        self._watch = watch
        self._checkpoint: Checkpoint = watch.checkpoint
        self._driver = driver
        self._sink = sink
        self._how = how
        self._misses = 0
        self._over = threading.Event()
        self._one_at_a_time = threading.Lock()
        watch.on_sign = self._seen

    def end(self) -> None:
        """Lie in wait no longer."""
        self._over.set()
        self._watch.on_sign = None

    def _seen(self, sign: Sign, batch: int) -> None:
        """Told by the watch, whose thread has to be back soon unless the driver stands still."""
        if self._over.is_set() or sign != self._window.sign or not self._has_records(batch):
            return
        if self._window.growing:
            threading.Thread(target=self._wait_growth, args=(batch,), daemon=True).start()
        else:
            self._spring(batch)

    def _wait_growth(self, batch: int) -> None:
        try:
            before = self._sink.size()
            while not self._over.is_set() and batch not in self._checkpoint.committed():
                grown = self._sink.size()
                if grown > before:
                    before = grown
                    self._spring(batch)
        except Exception as error:
            self._fail(error)

    def _spring(self, batch: int) -> None:
        """Freeze the driver, look, and kill it if this is the window."""
        with self._one_at_a_time:
            process = self._driver()
            if self._over.is_set() or process is None or not process.leader_alive():
                return
            process.freeze()
            try:
                here = self._in_window(batch)
            except Exception as error:
                process.thaw()
                self._fail(error)
                return
            if not here:
                self._misses += 1
                process.thaw()
                return
            count = process.members()
            process.kill(self._how)
            self.end()
            self.hit = Hit(
                batch=batch,
                instance=process.instance,
                processes=count,
                misses=self._misses,
                at=process.ended_at or now(),
            )

    def _in_window(self, batch: int) -> bool:
        if (batch in self._checkpoint.committed()) is not self._window.committed:
            return False
        if self._window.committed and batch + 1 in self._checkpoint.planned():
            return False
        if not self._window.state(*self._checkpoint.state_of(batch).progress):
            return False
        return self._window.holds(*self._sink.of(batch))

    def _has_records(self, batch: int) -> bool:
        return any(start < end for start, end in self._checkpoint.range_of(batch).values())

    def _fail(self, error: Exception) -> None:
        self.error = error
        self.end()

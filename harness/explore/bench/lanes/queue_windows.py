"""The windows of a forwarder: the moments around its write and its commit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.explore.bench.windows import Windows
from onceproof.harness.explore.points import QUEUE_BROKER, Purpose
from onceproof.harness.processes.processes import Process
from onceproof.harness.subjects.crash_point_trigger import StruckProcess
from onceproof.harness.subjects.queue.moments import AFTER_COMMIT, BEFORE_WRITE, Moments

_EVERY: Final = 0.005


class QueueWindows(Windows):
    """The windows of one forwarder in all its lives, `name-1`, `name-2` and so on."""

    ends: ClassVar[str] = AFTER_COMMIT
    target: ClassVar[str] = QUEUE_BROKER

    def __init__(self, folder: Path, name: str, process: Callable[[], Process | None]) -> None:
        """`folder` is the `work` of its tasks; `process` returns its newest life."""
        super().__init__(process)
        self._folder, self._name = folder, name
        self._moments: list[Moments] = []
        self._noted: list[int] = []
        """Number of moments of each life that are noted."""
        self._had: set[str] = set()
        """Records that a life has had in hand."""
        self._again: dict[int, bool] = {}
        """Life → whether what it has in hand was delivered before."""
        self.error: Exception | None = None
        """Why signs are no longer seen."""
        self._units = 0
        self._taking = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    @property
    def units(self) -> int:
        """Number of units that have ended, in all lives; what was due then is done."""
        return self._units

    def begin(self) -> None:
        moments = Moments(self._folder, f"{self._name}-{len(self._moments) + 1}")
        moments.record()
        with self._taking:
            self._moments.append(moments)
            self._noted.append(0)
            super().begin()

    def arm(self, window: str) -> HeldForwarder:
        return HeldForwarder(self._moments[-1], window, self._newest)

    def check(self) -> None:
        if self.error is not None:
            raise self.error

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self._take()

    def _follow(self) -> None:
        try:
            while not self._over.wait(_EVERY):
                self._take()
        except Exception as error:
            self.error = error

    def _take(self) -> None:
        with self._taking:
            for life, moments in enumerate(self._moments, start=1):
                new = moments.passed()[self._noted[life - 1] :]
                for window, record in new:
                    self._noted[life - 1] += 1
                    self._note(window, record, life, self._noted[life - 1])

    def _note(self, window: str, record: str, life: int, number: int) -> None:
        if window == BEFORE_WRITE:
            self._again[life] = record in self._had
            self._had.add(record)
        purpose: Purpose = "work" if window == BEFORE_WRITE else "commit"
        if self._again[life]:
            purpose = "recovery"
        self.note(window, number=number, purpose=purpose, at=now(), life=life)
        self._units += window == AFTER_COMMIT


class HeldForwarder:
    """Holds a forwarder at a moment. It is not frozen, so its connection stays alive."""

    error: Exception | None = None
    misses = 0

    def __init__(
        self, moments: Moments, window: str, process: Callable[[], Process | None]
    ) -> None:
        self._moments, self._window, self._process = moments, window, process
        self._hit: StruckProcess | None = None
        self._over = False
        moments.ask(window)

    @property
    def hit(self) -> StruckProcess | None:
        if self._hit is None and not self._over and self._held():
            process = self._process()
            assert process is not None, "only a process can be held"
            number = len(self._moments.passed())
            self._hit = StruckProcess(
                number=number, process=process, processes=1, misses=0, at=now()
            )
        return self._hit

    def _held(self) -> bool:
        # It writes down a moment before it waits there.
        held = self._moments.held() is not None
        return held and self._moments.passed()[-1][0] == self._window

    def still_in_window(self) -> bool:
        """Look whether it is held, and let it go if it is not dead: it has been struck."""
        held = self._held()
        self.release()
        return held

    def release(self) -> None:
        self._moments.let_go(self._window)

    def end(self) -> None:
        if self.hit is None:
            self.release()
        self._over = True

"""Strike a process in a window: stop it at the first sign, check the window, strike or resume.

A stopped process cannot leave its window, so there is time to check. If it is not in the window, it
resumes, a miss is counted, and the next sign is awaited.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from onceproof.harness.clock import now
from onceproof.harness.processes.processes import Process
from onceproof.harness.subjects.folder_watch import FolderWatch
from onceproof.harness.wait import Interrupted


@dataclass(frozen=True, kw_only=True)
class StruckProcess:
    """A process that was struck in a window.

    Attributes:
        number: of the micro-batch or checkpoint.
        processes: number of processes in its session.
        misses: how often it was stopped outside the window before.
        open: transactional ids of the checkpoint's open transactions.
    """

    number: int
    process: Process
    processes: int
    misses: int
    at: int
    open: tuple[str, ...] = ()

    @property
    def instance(self) -> str:
        return self.process.instance


class CrashPointTrigger(ABC):
    """Strikes one process in one window, which a subclass defines."""

    def __init__(
        self,
        watch: FolderWatch,
        *,
        process: Callable[[], Process | None],
        halt: Callable[[Process], None],
        strike: Callable[[Process], None],
    ) -> None:
        """Arm the trigger: `halt` stops the current `process`, and `strike` applies the fault."""
        self.hit: StruckProcess | None = None
        self.error: Exception | None = None
        self._watch = watch
        self._process = process
        self._halt = halt
        self._strike = strike
        self._misses = 0
        self._over = threading.Event()
        self._one_at_a_time = threading.RLock()
        watch.on_sign = self._seen

    @property
    def misses(self) -> int:
        """How often the process was stopped outside the window."""
        return self._misses

    def still_in_window(self) -> bool:
        """Look again at the window of the struck process, whose last writes may have arrived."""
        return self.hit is not None and self._look(self.hit.number) is not None

    def release(self) -> None:
        """Let the struck process go on."""
        if self.hit is not None:
            self.hit.process.thaw()

    def end(self) -> None:
        """Disarm; wait until a strike in progress is finished, so that `hit` is final."""
        self._over.set()
        self._watch.on_sign = None
        with self._one_at_a_time:
            pass

    @abstractmethod
    def _seen(self, *sign: Any) -> None:
        """Handle a sign from the watch: call `_try_strike` if it belongs to the window."""

    @abstractmethod
    def _look(self, number: int) -> tuple[str, ...] | None:
        """Return what is open in the window; None if this is not the window."""

    def _try_strike(self, number: int) -> None:
        with self._one_at_a_time:
            process = self._process()
            if self._over.is_set() or process is None or not process.leader_alive():
                return
            try:
                self._halt(process)
                found = self._look(number)
                if found is None:
                    self._misses += 1
                    process.thaw()
                    return
                count = process.members()
                self._strike(process)
            except (Interrupted, Exception) as error:
                process.thaw()
                self._fail(error)
                return
            self.end()
            self.hit = StruckProcess(
                number=number,
                process=process,
                processes=count,
                misses=self._misses,
                at=process.ended_at or now(),
                open=found,
            )

    def _fail(self, error: BaseException) -> None:
        """Disarm after an error; an interrupted run is not recorded as an error."""
        self.error = error if isinstance(error, Exception) else None
        self.end()

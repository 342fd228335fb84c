"""Strikes a process in a window: it is stopped at the first sign, looked at, hit or let go.

What stands still cannot leave its window, so there is time to look. What is not in the window goes
on, is counted as a miss, and is waited for again.
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
class Hit:
    """A process that was hit in a window.

    Attributes:
        number: of the micro-batch or checkpoint whose window it was.
        processes: how many processes that was.
        misses: how often it was stopped and let go before.
        at: when it was hit.
        open: transactional ids of the checkpoint that were open.
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
    """One process, one window. A subclass says what the window is."""

    def __init__(
        self,
        watch: FolderWatch,
        *,
        process: Callable[[], Process | None],
        halt: Callable[[Process], None],
        strike: Callable[[Process], None],
    ) -> None:
        """Arm it.

        Args:
            watch: tells `_seen` of each sign.
            process: the life now, if there is one.
            halt: stops it in its tracks.
            strike: what is done to it then.
        """
        self.hit: Hit | None = None
        self.error: Exception | None = None
        """What went wrong while it was armed; it is over then."""
        self._watch = watch
        self._process = process
        self._halt = halt
        self._strike = strike
        self._misses = 0
        self._over = threading.Event()
        self._one_at_a_time = threading.RLock()
        watch.on_sign = self._seen

    def end(self) -> None:
        """Strike no more; returns once a strike under way is over, so that `hit` is final."""
        self._over.set()
        self._watch.on_sign = None
        with self._one_at_a_time:
            pass

    @abstractmethod
    def _seen(self, *sign: Any) -> None:
        """Called by the watch with every sign: `_spring` if it is that of the window."""

    @abstractmethod
    def _look(self, number: int) -> tuple[str, ...] | None:
        """Whether this is the window: what is open in it, or None if it is not."""

    def _spring(self, number: int) -> None:
        """Stop the process, look, and strike if this is the window."""
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
            self.hit = Hit(
                number=number,
                process=process,
                processes=count,
                misses=self._misses,
                at=process.ended_at or now(),
                open=found,
            )

    def _fail(self, error: BaseException) -> None:
        """Nothing more comes of it; that the run was asked to stop is no error."""
        self.error = error if isinstance(error, Exception) else None
        self.end()

"""End a process whose client hangs, as the liveness probe of a deployment does.

A client that waits forever for a lost coordinator cannot be asked to stop; only its process can be
ended and replaced.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

HUNG: Final = 4
"""Exit code of a process that the watchdog ended."""


_LOOKS: Final = 20
"""Number of checks within the time limit of a call."""

_Call = tuple[str]


class RepeatedChecks:
    """Counts successive checks that found the same call.

    Seconds would count the time in which a paused process could not return from its call.
    """

    def __init__(self, most: int = _LOOKS) -> None:
        """More than `most` checks mean that a call hangs."""
        self._most = most
        self._met: object = None
        self._count = 0

    def hung(self, call: object) -> bool:
        """Check the current call (None if there is none); return whether it hangs."""
        if call is None or call is not self._met:
            self._met, self._count = call, 0
            return False
        self._count += 1
        return self._count > self._most


class Watchdog:
    """Watches one call at a time, in its own thread."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._call: _Call | None = None
        threading.Thread(target=self._watch, daemon=True).start()

    @contextmanager
    def over(self, call: str) -> Iterator[None]:
        self._call = (call,)
        try:
            yield
        finally:
            self._call = None

    def _watch(self) -> None:
        pause, looks = threading.Event(), RepeatedChecks()
        while not pause.wait(self._seconds / _LOOKS):
            call = self._call
            if call is not None and looks.hung(call):
                sys.stderr.write(f"hung in {call[0]} for {self._seconds:g} s\n")
                sys.stderr.flush()
                os._exit(HUNG)

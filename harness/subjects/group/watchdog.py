"""Ends a process whose client does not return: what a deployment's liveness probe does.

A client that waits for ever on a coordinator that is gone cannot be asked to
stop; only its process can be ended, and a new one started.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

HUNG: Final = 4
"""Exit code of a process that was ended for this."""


_LOOKS: Final = 20
"""How often it is looked at a call before its time is over."""

_Call = tuple[str]


class Looks:
    """Counts how often in a row one call was met.

    Looks are counted and not seconds: a process that was paused has not looked meanwhile, and the
    call that it was in had no time to return either.
    """

    def __init__(self, most: int = _LOOKS) -> None:
        """More than `most` are too many."""
        self._most = most
        self._met: object = None
        self._count = 0

    def hung(self, call: object) -> bool:
        """Look once more at the call that is made now, None if there is none."""
        if call is None or call is not self._met:
            self._met, self._count = call, 0
            return False
        self._count += 1
        return self._count > self._most


class Watchdog:
    """Looks at one call at a time, from a thread of its own."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._call: _Call | None = None
        threading.Thread(target=self._watch, daemon=True).start()

    @contextmanager
    def over(self, call: str) -> Iterator[None]:
        """Watch over a call until the block ends."""
        self._call = (call,)
        try:
            yield
        finally:
            self._call = None

    def _watch(self) -> None:
        pause, looks = threading.Event(), Looks()
        while not pause.wait(self._seconds / _LOOKS):
            call = self._call
            if call is not None and looks.hung(call):
                sys.stderr.write(f"hung in {call[0]} for {self._seconds:g} s\n")
                sys.stderr.flush()
                os._exit(HUNG)

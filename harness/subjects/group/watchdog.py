"""Ends a process whose client does not return: what a deployment's liveness probe does.

The one thing to know: a client that waits for ever on a coordinator that is gone cannot be asked to
stop; only its process can be ended, and a new one started.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

HUNG: Final = 4
"""Exit code of a process that was ended for this."""


class Watchdog:
    """Looks at one call at a time, from a thread of its own."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._call: tuple[str, float] | None = None
        threading.Thread(target=self._watch, daemon=True).start()

    @contextmanager
    def over(self, call: str) -> Iterator[None]:
        """Watch over a call until the block ends."""
        self._call = (call, time.monotonic())
        try:
            yield
        finally:
            self._call = None

    def _watch(self) -> None:
        pause = threading.Event()
        while not pause.wait(self._seconds / 20):
            call = self._call
            if call is not None and time.monotonic() - call[1] > self._seconds:
                sys.stderr.write(f"hung in {call[0]} for {self._seconds:g} s\n")
                sys.stderr.flush()
                os._exit(HUNG)

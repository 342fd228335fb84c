"""Progress of the bootstrap: one line that changes on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

EVERY = 5.0
"""Seconds between lines where lines stay, as in the log of a build server."""


class ProgressLine:
    """What is being done, and for how long."""

    def __init__(
        self,
        title: str,
        *,
        out: TextIO = sys.stdout,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._title = title
        self._out = out
        self._clock = clock
        self._started = clock()
        self._said: float | None = None

    def say(self, message: str) -> None:
        """Show this, unless the last line is too fresh."""
        now = self._clock()
        text = f"{self._title}: {now - self._started:3.0f} s  {message}"
        if self._out.isatty():
            self._out.write(f"\r\x1b[K{text[:100]}")
        elif self._said is None or now - self._said >= EVERY:
            self._out.write(text + "\n")
            self._said = now
        self._out.flush()

    def finish(self, message: str) -> None:
        """Leave one line behind."""
        start = "\r\x1b[K" if self._out.isatty() else ""
        self._out.write(f"{start}{message} ({self._clock() - self._started:.0f} s).\n")
        self._out.flush()

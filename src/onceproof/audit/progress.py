"""Report the progress of reading, and the remaining time."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final, TextIO

from onceproof.reports.text import number, seconds

_EVERY: Final = 5.0


@dataclass(kw_only=True)
class Progress:
    """Print a progress line every few seconds; `total` counts offsets."""

    total: int
    out: TextIO
    _read: int = field(default=0, init=False)
    _began: float = field(default_factory=time.monotonic, init=False)
    _printed: float = field(default_factory=time.monotonic, init=False)

    def add(self, offsets: int) -> None:
        self._read += offsets
        now = time.monotonic()
        if now - self._printed >= _EVERY:
            self._printed = now
            rate = self._read / (now - self._began)
            left = (self.total - self._read) / rate if rate else None
            print(
                f"read     {number(self._read)} of {number(self.total)} offsets, "
                f"{number(round(rate))}/s, about {seconds(left)} left",
                file=self.out,
            )

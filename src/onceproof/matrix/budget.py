"""Time limit of a matrix.

A run starts only if its expected duration fits into the remaining time, so that a build ends in
time with complete runs. If a long run does not fit, shorter ones after it may.
"""

from __future__ import annotations

import time
from collections.abc import Callable


class Budget:
    """The rest of a time limit; None: unlimited."""

    def __init__(
        self, seconds: float | None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.seconds = seconds
        self._clock = clock
        self._since = clock()

    def has_room_for(self, seconds: float) -> bool:
        return self.seconds is None or self._clock() - self._since + seconds <= self.seconds

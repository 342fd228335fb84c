"""Time that there is for a matrix.

A run is begun only if what it is known to take fits into what is left, so
that a build ends within its limit with whole runs; a dear one that does not fit leaves room for
cheap ones behind it.
"""

from __future__ import annotations

import time
from collections.abc import Callable


class Budget:
    """What is left of a limit, since it was made."""

    def __init__(
        self, seconds: float | None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.seconds = seconds
        self._clock = clock
        self._since = clock()

    def has_room_for(self, seconds: float) -> bool:
        """Whether something that takes so long ends in time."""
        return self.seconds is None or self._clock() - self._since + seconds <= self.seconds

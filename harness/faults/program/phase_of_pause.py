"""Wait for a fraction of a program's pause between two writes."""

from __future__ import annotations

from typing import Final

_ENOUGH: Final = 2
"""Number of observed pauses that outweighs the dry run."""


class PhaseOfPause:
    """Track how long a program has been quiet.

    With more work than in its dry run, a program pauses for less time, and would never reach that
    fraction of the pause in the dry run.
    """

    def __init__(self, phase: float, pause: float) -> None:
        """Wait for `phase` (0 to 1) of `pause`, the longest usual pause in seconds."""
        self._phase, self._pause = phase, pause
        self._before = 0.0
        self._seen: list[float] = []

    def reached(self, quiet_for: float) -> bool:
        """Whether the fraction is reached, given the seconds since the last write."""
        if quiet_for < self._before:
            self._seen.append(self._before)
        self._before = quiet_for
        pause = self._pause
        # The first pause is ignored: its start was not observed, so it may be too short.
        if len(self._seen) > _ENOUGH:
            pause = min(pause, max(self._seen[1:]))
        return quiet_for >= self._phase * pause

"""Whether a program is so far into its pause between two writes."""

from __future__ import annotations

from typing import Final

_ENOUGH: Final = 2
"""Pauses after which what was seen counts for more than what the dry run says."""


class PhaseOfPause:
    """Asked again and again how long a program has been quiet.

    A program that has more to do than in its dry run pauses for less, and would never come to a
    part of the pause that it had then.
    """

    def __init__(self, phase: float, pause: float) -> None:
        """Know what to wait for.

        Args:
            phase: part of its pause that must have passed, 0 to 1.
            pause: the longest in seconds that it usually pauses.
        """
        self._phase, self._pause = phase, pause
        self._before = 0.0
        self._seen: list[float] = []

    def reached(self, quiet_for: float) -> bool:
        """Whether it is, when it has written nothing for so many seconds."""
        if quiet_for < self._before:
            self._seen.append(self._before)
        self._before = quiet_for
        pause = self._pause
        # The first began before anybody looked; it may be as short as any.
        if len(self._seen) > _ENOUGH:
            pause = min(pause, max(self._seen[1:]))
        return quiet_for >= self._phase * pause

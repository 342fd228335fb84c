"""A process of the pipeline that was made to end, and gets a new life when healed."""

from __future__ import annotations

from collections.abc import Callable

from onceproof.harness.clock import now
from onceproof.harness.processes.processes import Process


class Ended:
    """It ended for a fault's sake."""

    def __init__(self, end: Callable[[], Process], heal: Callable[[], None]) -> None:
        """End it.

        Args:
            end: does that, and returns the life that ended.
            heal: starts another one, unless an earlier try did, and sees that it works.
        """
        self.at = now()
        self._process = end()
        self.target = self._process.instance
        self.heal = heal

    def evidence(self) -> str | None:
        """Its end, and how all of it came to one."""
        return f"{self.target} {self._process.ended}: {self._process.how}"

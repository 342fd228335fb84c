"""A process of the pipeline that was ended, and is restarted when healed."""

from __future__ import annotations

from collections.abc import Callable

from onceproof.harness.clock import now
from onceproof.harness.processes.processes import Process


class EndedProcess:
    """An ended process as an injection."""

    def __init__(self, end: Callable[[], Process], heal: Callable[[], None]) -> None:
        """End it.

        Args:
            end: ends a process and returns it.
            heal: starts another one, unless an earlier call did, and waits until it works.
        """
        self.at = now()
        self._process = end()
        self.target = self._process.instance
        self.heal = heal

    def evidence(self) -> str | None:
        return f"{self.target} {self._process.ended}: {self._process.how}"

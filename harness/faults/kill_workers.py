"""SIGKILL of all workers of Kafka Connect, side by side; restarted when healed.

Nobody is left to go on. What was under way stays so until a new task of the
same name ends it, or it is timed out.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.workers import wait_whole, workers
from onceproof.harness.run_context import RunContext
from onceproof.harness.subjects.connect.base import WORKER


@dataclass(frozen=True, kw_only=True)
class KillWorkers:
    """SIGKILL every worker."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = WORKER

    def describe(self) -> str:
        return "SIGKILL all workers"

    def inject(self, context: RunContext, name: str) -> _Killed:
        """Kill them."""
        return _Killed(context, name)


BY_HAND: Final = ByHand(
    name="kill-workers",
    takes=(),
    example="kill-workers",
    says="SIGKILL all workers of Kafka Connect; they are restarted when healed",
    make=KillWorkers,
)


class _Killed:
    def __init__(self, context: RunContext, name: str) -> None:
        self._crew = workers(context)
        names = self._crew.names
        self.at = now()
        with ThreadPoolExecutor(len(names)) as pool:
            how = f"SIGKILL by fault «{name}»"
            self._processes = list(pool.map(lambda who: self._crew.kill(who, how), names))
        self.target = ", ".join(process.instance for process in self._processes)

    def evidence(self) -> str | None:
        """Their ends."""
        if self._crew.alive():
            return None
        return "; ".join(f"{process.instance} {process.ended}" for process in self._processes)

    def heal(self) -> None:
        """Start them again, and see that all work together."""
        for who in self._crew.names:
            self._crew.restart(who)
        wait_whole(self._crew)

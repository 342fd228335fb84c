"""SIGKILL of the worker of Kafka Connect that runs the connector's task; restarted when healed.

The task goes to another worker once the dead one's session is over. Only
that, and that it commits there, is proof that the claim was put to the test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.workers import taken_over, wait_whole, workers
from onceproof.harness.run_context import RunContext
from onceproof.harness.subjects.connect.base import WORKER


@dataclass(frozen=True, kw_only=True)
class KillOwner:
    """SIGKILL the worker that runs the task."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = WORKER

    def describe(self) -> str:
        return "SIGKILL the worker that runs the task"

    def inject(self, context: RunContext, name: str) -> _Killed:
        """Kill it."""
        return _Killed(context, name)


BY_HAND: Final = ByHand(
    name="kill-owner",
    takes=(),
    example="kill-owner",
    says="SIGKILL the worker of Kafka Connect that runs the task; it is restarted when healed",
    make=KillOwner,
)


class _Killed:
    def __init__(self, context: RunContext, name: str) -> None:
        self._crew = workers(context)
        self._who = self._crew.wait_owner()
        self.at = now()
        self._process = self._crew.kill(self._who, f"SIGKILL by fault «{name}»")
        self._commits = self._crew.commits
        self.target = f"{self._process.instance} (runs the task)"

    def evidence(self) -> str | None:
        """Its end, and that another one runs the task and commits."""
        other = taken_over(self._crew, self._who, commits=self._commits)
        return other and f"{self._process.instance} {self._process.ended}; {other}"

    def heal(self) -> None:
        """Start it again, and see that all work together."""
        self._crew.restart(self._who)
        wait_whole(self._crew)

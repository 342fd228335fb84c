"""The worker of Kafka Connect that runs the task, paused until another has it: a zombie.

When it goes on it knows nothing of that. Whatever its task was about to
write or to commit it still does, and only fencing stands against it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.faults.by_hand import ByHand
from onceproof.harness.faults.workers import taken_over, wait_whole, workers
from onceproof.harness.run_context import Collected, RunContext
from onceproof.harness.subjects.connect.base import WORKER

FENCED: Final = "fenced-zombie"
"""Who came back wanted to go on, and was told that another one has its place."""
_REFUSED: Final = re.compile(
    r"^\S*(?:ProducerFenced|InvalidProducerEpoch)Exception: .*", re.MULTILINE
)


@dataclass(frozen=True, kw_only=True)
class PauseOwner:
    """Pause the worker that runs the task, for longer than its session."""

    kind: ClassVar[str] = "timeout"
    needs: ClassVar[str | None] = WORKER

    def describe(self) -> str:
        return "pause the worker that runs the task until another one runs it"

    def inject(self, context: RunContext, name: str) -> _Paused:
        """Pause it."""
        return _Paused(context, name)


BY_HAND: Final = ByHand(
    name="pause-owner",
    takes=(),
    example="pause-owner",
    says="pause the worker of Kafka Connect that runs the task until another one runs it",
    make=PauseOwner,
)


class _Paused:
    def __init__(self, context: RunContext, name: str) -> None:
        self._context, self._name = context, name
        self._crew = workers(context)
        self._who = self._crew.wait_owner()
        self.at = now()
        self._process = self._crew.pause(self._who)
        self._said = self._process.log.stat().st_size
        self._commits = self._crew.commits
        self.target = f"{self._process.instance} (runs the task)"

    def evidence(self) -> str | None:
        """That it stands still, and another one runs its task and commits."""
        if not self._process.frozen():
            return None
        other = taken_over(self._crew, self._who, commits=self._commits)
        return other and f"{self._process.instance} stands still; {other}"

    def heal(self) -> None:
        """Let it go on, and see that all work together."""
        self._process.thaw()
        wait_whole(self._crew)

    def after_collect(self, known: Collected) -> None:
        """That it was fenced, by its own word since it goes on."""
        said = self._process.log.read_bytes()[self._said :].decode(errors="replace")
        if refused := _REFUSED.search(said):
            self._context.recorder.hazard(
                FENCED,
                hop="process",
                fault=self._name,
                detail=f"{self._process.instance} was told: {refused[0]}",
            )

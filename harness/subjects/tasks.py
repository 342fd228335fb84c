"""Processes that do the same work, each with a file that tells it what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.processes.processes import Process
from onceproof.harness.subjects.supervisor import Supervisor, TooOften


class Task(Protocol):
    """The task of one process."""

    @property
    def name(self) -> str:
        """Whose it is."""

    def save(self, path: Path) -> None:
        """Write it where the process will read it."""


TaskOf = TypeVar("TaskOf", bound=Task)
Program = Callable[[Path], Sequence[str | Path]]
"""The command that starts a process with the file of its task."""


class Tasks(Supervisor, Generic[TaskOf]):
    """The members of one pipeline, kept running."""

    def __init__(self, tasks: Sequence[TaskOf], parts: PipelineParts, *, program: Program) -> None:
        self._tasks = {task.name: task for task in tasks}
        self._parts = parts
        self._program = program
        super().__init__(
            tuple(self._tasks),
            self._begin_task,
            gives_up=partial(TooOften, "members ended by themselves"),
            stop=parts.stop,
        )

    def _begin_task(self, name: str) -> Process:
        task = self._parts.work / f"{name}.json"
        self._tasks[name].save(task)
        return self._parts.processes.start(name, self._program(task))

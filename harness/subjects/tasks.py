"""Processes that do the same work, each with its own task file."""

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
        """Name of the process."""

    def save(self, path: Path) -> None:
        """Write the task to the file that the process will read."""


TaskOf = TypeVar("TaskOf", bound=Task)
Program = Callable[[Path], Sequence[str | Path]]
"""Return the command that starts a process, given its task file."""


class Tasks(Supervisor, Generic[TaskOf]):
    """The processes of one pipeline, kept running by a supervisor."""

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

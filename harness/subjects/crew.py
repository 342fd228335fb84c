"""Processes of a pipeline that do the same work: started, killed, paused, and started again.

One that ends by itself, because it was fenced or its client hung, is started
again, as anybody's deployment does. One that a fault has killed waits for its healing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Generic, Protocol, TypeVar

from onceproof.harness.stage.processes import Process
from onceproof.harness.subjects.pipeline import PipelineParts, PipelineTrouble

LIVES: Final = 12
"""A crew whose members end by themselves more often than this does not work."""
_LOOK_EVERY: Final = 0.1


class Task(Protocol):
    """What one member is told to do."""

    @property
    def name(self) -> str:
        """Whose it is."""

    def save(self, path: Path) -> None:
        """Write it where the process will read it."""


TaskOf = TypeVar("TaskOf", bound=Task)
Program = Callable[[Path], Sequence[str | Path]]
"""The command that starts a member with the file of its task."""


class Crew(Generic[TaskOf]):
    """The members of one pipeline."""

    def __init__(self, tasks: Sequence[TaskOf], parts: PipelineParts, *, program: Program) -> None:
        """Nothing is started yet.

        Args:
            tasks: one for each member.
            parts: what it is made from.
            program: starts a member.
        """
        self._tasks = {task.name: task for task in tasks}
        self.names = tuple(self._tasks)
        self._parts = parts
        self._program = program
        self._running: dict[str, Process] = {}
        self._down: set[str] = set()
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._trouble: str | None = None
        self._keeper = threading.Thread(target=self._keep, daemon=True)

    def start(self) -> None:
        """Start every member that does not run, and look after them from now on."""
        for name in self.names:
            self.restart(name)
        if not self._keeper.is_alive():
            self._keeper.start()

    def restart(self, name: str) -> None:
        """Start a member, unless it runs."""
        with self._lock:
            self._down.discard(name)
            process = self._running.get(name)
            if process is None or not process.leader_alive():
                self._running[name] = self._begin(name)

    def process(self, name: str) -> Process:
        """The member's life now.

        Raises:
            PipelineTrouble: it does not run.
        """
        process = self._running.get(name)
        if process is None or not process.leader_alive():
            raise PipelineTrouble(f"{name} does not run")
        return process

    def kill(self, name: str, how: str) -> Process:
        """SIGKILL a member; it stays down until `restart`."""
        return self._end(name, how, asked=False)

    def stop(self, name: str, how: str) -> Process:
        """Ask a member to end; it stays down until `restart`."""
        return self._end(name, how, asked=True)

    def pause(self, name: str) -> Process:
        """Stop a member in its tracks."""
        process = self.process(name)
        process.pause(self._parts.stop)
        return process

    def alive(self) -> bool:
        """Whether any member runs."""
        return any(process.leader_alive() for process in self._running.values())

    def check(self) -> None:
        """Raise `PipelineTrouble` if members end by themselves again and again."""
        if self._trouble is not None:
            raise PipelineTrouble(self._trouble)

    def close(self) -> None:
        """Look after nobody any more."""
        self._over.set()
        if self._keeper.is_alive():
            self._keeper.join(5)

    def _end(self, name: str, how: str, *, asked: bool) -> Process:
        with self._lock:
            self._down.add(name)
            process = self.process(name)
        process.end(how, asked=asked)
        return process

    def _begin(self, name: str) -> Process:
        """Start a life of a member with its task."""
        task = self._parts.work / f"{name}.json"
        self._tasks[name].save(task)
        return self._parts.processes.start(name, self._program(task))

    def _keep(self) -> None:
        """Start again who ended by itself."""
        lives = 0
        while not self._over.wait(_LOOK_EVERY) and not self._parts.stop.is_set():
            with self._lock:
                for name in self.names:
                    process = self._running[name]
                    if self._over.is_set() or name in self._down or process.leader_alive():
                        continue
                    if process.ending:
                        continue  # it is being torn down
                    process.note_exit()
                    lives += 1
                    if lives > LIVES:
                        self._trouble = (
                            f"members ended by themselves {lives} times; {process.instance} "
                            f"said last: {process.tail()}"
                        )
                        return
                    self._running[name] = self._begin(name)

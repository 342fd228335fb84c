"""A command that is kept running: what ends by itself is started again, as any supervisor does.

One that we ended ourselves stays down until it is started again. One that
fails over and over although nothing comes of it is given up; one that ends well, as a job does that
works off what is there, may do so as often as it likes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from onceproof.harness.stage.processes import Process, Processes
from onceproof.harness.subjects.pipeline import PipelineTrouble

LIVES: Final = 12
"""How often it may fail in a row without anything new in its output."""
_LOOK_EVERY: Final = 0.2


class Kept:
    """One command and its lives. Thread-safe."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        processes: Processes,
        environment: Mapping[str, str],
        folder: Path,
        progress: Callable[[], int],
        began: Callable[[Process], None] = lambda _: None,
    ) -> None:
        """Nothing is started yet.

        Args:
            name: of the process.
            command: program and arguments.
            processes: starts it, so that it is not left behind.
            environment: added to our own.
            folder: where it works.
            progress: a number that changes when it gets on.
            began: told of every life.
        """
        self.process: Process | None = None
        self.trouble: str | None = None
        self.before_again: Callable[[], None] = _nothing
        """Called before one that has ended by itself, with all its processes, is started again."""
        self._name = name
        self._command = tuple(command)
        self._processes = processes
        self._environment = dict(environment)
        self._folder = folder
        self._progress = progress
        self._began = began
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._keeper = threading.Thread(target=self._keep, daemon=True)

    def start(self) -> None:
        """Start it, unless it runs, and keep it running from now on."""
        with self._lock:
            if not self.alive():
                self._begin()
            if not self._keeper.is_alive():
                self._keeper.start()

    def alive(self) -> bool:
        """Whether it runs."""
        return self.process is not None and self.process.leader_alive()

    def running(self) -> Process:
        """Its life now.

        Raises:
            PipelineTrouble: it does not run.
        """
        process = self.process
        if process is None or not process.leader_alive():
            raise PipelineTrouble(f"{self._name} does not run")
        return process

    def check(self) -> None:
        """Raise `PipelineTrouble` if it was given up."""
        if self.trouble is not None:
            raise PipelineTrouble(self.trouble)

    def close(self) -> None:
        """Keep it no longer; its process is ended by others."""
        self._over.set()
        if self._keeper.is_alive():
            self._keeper.join(5)

    def _begin(self) -> None:
        self.process = self._processes.start(
            self._name, self._command, environment=self._environment, folder=self._folder
        )
        self._began(self.process)

    def _keep(self) -> None:
        failures, before = 0, self._seen()
        while not self._over.wait(_LOOK_EVERY):
            with self._lock:
                process = self.process
                if process is None or process.ending or process.leader_alive():
                    continue
                process.note_exit()
                if process.popen.returncode:
                    seen = self._seen()
                    failures, before = (1 if seen != before else failures + 1), seen
                if failures > LIVES:
                    self.trouble = (
                        f"{self._name} failed {failures} times in a row; {process.instance} "
                        f"{process.how}, and said last: {process.tail()}"
                    )
                    return
            if not process.alive():
                self.before_again()
            self._begin_behind(process)

    def _begin_behind(self, process: Process) -> None:
        """Start it again, unless somebody else has, or has ended it for good, meanwhile."""
        with self._lock:
            if self.process is process and not process.ending and not self._over.is_set():
                self._begin()

    def _seen(self) -> int | None:
        try:
            return self._progress()
        except Exception:  # a broker or the database is away for now
            return None


def _nothing() -> None:
    pass

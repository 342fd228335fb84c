"""Keeps the processes of a pipeline running, as a deployment does.

A process that ends by itself, because it was fenced or its client hung, is restarted. One that a
fault has ended stays down until it is started.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final

from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.processes.processes import Process
from onceproof.harness.wait import Stop

LIVES: Final = 12
"""How often processes may end by themselves before they are given up."""
GiveUp = Callable[[Process], str | None]
"""Given a process that ended by itself, return why it is not restarted, or None."""


class Supervisor:
    """Named processes and their lives. Thread-safe."""

    def __init__(
        self,
        names: Sequence[str],
        begin: Callable[[str], Process],
        *,
        gives_up: Callable[[], GiveUp],
        every: float = 0.1,
        whole: bool = False,
        stop: Stop | None = None,
    ) -> None:
        """Take the names; nothing is started yet.

        Args:
            gives_up: creates the policy that decides on restarts.
            every: seconds between two checks.
            whole: a process counts as ended only when all its child processes have ended, too.
        """
        self.names = tuple(names)
        self.restarts = 0
        """How many processes that had ended by themselves were restarted."""
        self.before_again: Callable[[], None] = _nothing
        """Called before the restart of a process that ended by itself, with all its children."""
        self._begin = begin
        self._gives_up = gives_up
        self._every = every
        self._whole = whole
        self._stop = stop or Stop()
        self._running: dict[str, Process] = {}
        self._down: set[str] = set()
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._trouble: str | None = None
        self._thread = threading.Thread(target=self._supervise, daemon=True)

    def start(self) -> None:
        """Start every process that is not running, and keep all running from now on."""
        for name in self.names:
            self.restart(name)
        if not self._thread.is_alive():
            self._thread.start()

    def restart(self, name: str) -> None:
        """Start a process, unless it is running."""
        with self._lock:
            self._down.discard(name)
            process = self._running.get(name)
            if process is None or not process.leader_alive():
                self._running[name] = self._begin(name)

    def succeed(self) -> None:
        """Start another life of the only process, even if one is running."""
        with self._lock:
            self._running[self.names[0]] = self._begin(self.names[0])

    @property
    def life(self) -> Process | None:
        """The only process's current or last life; None before the first."""
        return self._running.get(self.names[0])

    def running(self) -> Process:
        """Return the current life of the only process.

        Raises:
            PipelineTrouble: it is not running.
        """
        return self.process(self.names[0])

    def process(self, name: str) -> Process:
        """Return the current life of a process.

        Raises:
            PipelineTrouble: it is not running.
        """
        process = self._running.get(name)
        if process is None or not process.leader_alive():
            raise PipelineTrouble(f"{name} is not running")
        return process

    def kill(self, name: str, how: str) -> Process:
        """Kill a process with SIGKILL; it stays down until `restart`."""
        return self._end(name, how, asked=False)

    def stop(self, name: str, how: str) -> Process:
        """Stop a process with SIGTERM; it stays down until `restart`."""
        return self._end(name, how, asked=True)

    def pause(self, name: str) -> Process:
        process = self.process(name)
        process.pause(self._stop)
        return process

    def alive(self) -> bool:
        return any(process.leader_alive() for process in self._running.values())

    def check(self) -> None:
        """Raise `PipelineTrouble` if a process was given up."""
        if self._trouble is not None:
            raise PipelineTrouble(self._trouble)

    def close(self) -> None:
        """Stop restarting; the processes are ended elsewhere."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(5)

    def _end(self, name: str, how: str, *, asked: bool) -> Process:
        with self._lock:
            self._down.add(name)
            process = self.process(name)
        process.end(how, asked=asked)
        return process

    def _supervise(self) -> None:
        gives_up = self._gives_up()
        while not self._over.wait(self._every) and not self._stop.is_set():
            for name in self.names:
                with self._lock:
                    process = self._running.get(name)
                    if process is None or not self._ended(name, process):
                        continue
                    process.note_exit()
                    if self._whole and process.ended_at is None:
                        continue
                    if (trouble := gives_up(process)) is not None:
                        self._trouble = trouble
                        return
                if not process.alive():
                    self.before_again()
                with self._lock:  # it may have been restarted, or ended by a fault, meanwhile
                    if self._running[name] is process and self._ended(name, process):
                        self.restarts += 1
                        self._running[name] = self._begin(name)

    def _ended(self, name: str, process: Process) -> bool:
        kept = not self._over.is_set() and name not in self._down
        return kept and not process.ending and not process.leader_alive()


class TooOften:
    """Gives up when processes have ended by themselves more than `LIVES` times."""

    def __init__(self, who: str) -> None:
        self._who, self._times = who, 0

    def __call__(self, process: Process) -> str | None:
        self._times += 1
        if self._times <= LIVES:
            return None
        return (
            f"{self._who} {self._times} times; last output of {process.instance}: {process.tail()}"
        )


class FailsInARow:
    """Gives up when a process has failed more than `LIVES` times without progress.

    One that exits with 0, as a batch job does, may do so any number of times.
    """

    def __init__(self, name: str, progress: Callable[[], int]) -> None:
        """Take a `progress` that returns another number whenever the process makes progress."""
        self._name, self._progress = name, progress
        self._failures, self._before = 0, self._seen()

    def __call__(self, process: Process) -> str | None:
        if not process.popen.returncode:
            self._failures = 0
            return None
        seen = self._seen()
        self._failures = 1 if seen != self._before else self._failures + 1
        self._before = seen
        if self._failures <= LIVES:
            return None
        return (
            f"{self._name} failed {self._failures} times in a row; {process.instance} "
            f"{process.how}; last output: {process.tail()}"
        )

    def _seen(self) -> int | None:
        try:
            return self._progress()
        except Exception:  # a broker or the database is unavailable
            return None


def _nothing() -> None:
    pass

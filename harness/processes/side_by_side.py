"""Run commands in parallel, each in its own process, so that a crash ends only one of them.

A command gets SIGTERM once before it is killed: a second signal makes a run leave everything to its
reaper. The commands never outlive us: our own reaper finds them by their marker, and each run has
a reaper for what it started.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.processes.sweep import new_marker
from onceproof.harness.processes.watchdog import Watchdog
from onceproof.harness.wait import Interrupted, Overdue, Stop, wait_until

_ENDING_SECONDS = 180.0
"""How long a run may take to tear down, judge and write its report."""
_REAPING_SECONDS = 60.0
"""How long the reaper of a killed run may take to clean up."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """A command to run.

    Attributes:
        name: also the name of its log file.
        seconds: time limit.
        ending: seconds that it may take to end after SIGTERM.
    """

    name: str
    command: tuple[str, ...]
    seconds: float
    ending: float = _ENDING_SECONDS


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a job ended.

    Attributes:
        code: exit code; a negative value is the signal that ended it.
        overdue: whether it exceeded its time limit.
    """

    job: Job
    code: int
    seconds: float
    overdue: bool
    log: Path


@dataclass(kw_only=True)
class _Running:
    job: Job
    process: Process
    since: float
    overdue: bool = False

    @property
    def deadline(self) -> float:
        return self.since + self.job.seconds + (self.job.ending if self.overdue else 0)


@contextmanager
def children(logs: Path) -> Iterator[Processes]:
    """Provide processes whose output goes to `logs` and that never outlive us."""
    logs.mkdir(parents=True, mode=0o700, exist_ok=True)
    processes = Processes(new_marker(), logs)
    watchdog = Watchdog(processes.marker, log=logs / "reaper.log")
    try:
        yield processes
    finally:
        try:
            processes.kill_all("the command that started it ended")
        finally:
            watchdog.release()


def side_by_side(
    jobs: Iterable[Job],
    *,
    at_once: int,
    processes: Processes,
    stop: Stop,
    started: Callable[[Job], None],
    ended: Callable[[Ended], None],
) -> None:
    """Run jobs, `at_once` of them at a time, each to its end or its time limit.

    Args:
        jobs: consumed lazily, whenever there is room for another.
        stop: when set, no more jobs start, and running ones get SIGTERM.
        ended: called for every job that ended.
    """
    waiting, running = iter(jobs), list[_Running]()
    try:
        while True:
            while len(running) < at_once and not stop.is_set():
                job = next(waiting, None)
                if job is None:
                    break
                process = processes.start(job.name, job.command)
                running.append(_Running(job=job, process=process, since=time.monotonic()))
                started(job)
            if not running:
                return
            try:
                _wait(running, stop)
            except Interrupted:
                _terminate_all(running)
            for each in [each for each in running if not each.process.leader_alive()]:
                running.remove(each)
                ended(_end(each))
    finally:
        # After an error here the running jobs still get an orderly end.
        _terminate_all(running)


def _wait(running: list[_Running], stop: Stop) -> None:
    """Wait until a job has ended; terminate one past its deadline, and kill it at the next one.

    Raises:
        Interrupted: we were asked to stop.
    """
    first = min(each.deadline for each in running) if running else 0
    with suppress(Overdue):
        wait_until(
            lambda: any(not each.process.leader_alive() for each in running),
            what="a command to end",
            seconds=max(0.0, first - time.monotonic()),
            stop=stop,
            every=0.2,
        )
    for each in running:
        if time.monotonic() >= each.deadline and each.process.leader_alive():
            if each.overdue:
                _kill(each)
            else:
                each.overdue = True
                each.process.popen.send_signal(signal.SIGTERM)


def _terminate_all(running: list[_Running]) -> None:
    for each in running:
        if not each.overdue:
            each.process.popen.send_signal(signal.SIGTERM)
    with suppress(Overdue):
        wait_until(
            lambda: not any(each.process.leader_alive() for each in running),
            what="the commands to end",
            seconds=max((each.job.ending for each in running), default=0.0),
            every=0.2,
        )
    for each in running:
        if each.process.leader_alive():
            _kill(each)


def _kill(each: _Running) -> None:
    """Kill a job's process group (SIGKILL); its reaper ends everything else and removes the data.

    The reaper has its own session, because it must outlive the run.
    """
    each.process.pids()  # remember its reaper as a member before the parent is gone
    with suppress(ProcessLookupError):
        os.killpg(each.process.session, signal.SIGKILL)
    with suppress(Overdue):
        wait_until(
            lambda: not each.process.alive(),
            what=f"the reaper of {each.job.name} to clean up",
            seconds=_REAPING_SECONDS,
        )


def _end(each: _Running) -> Ended:
    each.process.note_exit()
    return Ended(
        job=each.job,
        code=each.process.popen.returncode,
        seconds=time.monotonic() - each.since,
        overdue=each.overdue,
        log=each.process.log,
    )

"""Processes of a run: started in a session of their own, ended whole.

A process here means its whole *session*, and what that started. A Spark
driver is a Python process, a JVM, a Python daemon in a process group of its own and that daemon's
workers; only the session id holds them together. What was seen to belong to it stays with it: a
child in a session of its own is nobody's child once the first process has died. Every one carries
the run's marker in its environment, by which the reaper and a later sweep find them even when all
else is lost.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from onceproof.harness.clock import now
from onceproof.harness.kafka.connecting.properties import without_credentials
from onceproof.harness.processes import proc
from onceproof.harness.processes.life import Life
from onceproof.harness.wait import Overdue, Stop, wait_until

MARKER = "ONCEPROOF_RUN"
"""Environment variable that every process of a run carries; its value is the run's marker."""
_PATIENCE: Final = 20.0
"""How long one that is asked to end may take, in seconds."""
_SCRIPT_SECONDS: Final = 0.5
"""Within which a start script ends that does not heed SIGTERM."""
_STILL_SECONDS: Final = 2.0
"""How long a session may take to stand still before it is stopped anew."""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """User and group that a process runs with."""

    uid: int
    gid: int


class Outside(Protocol):
    """What a process stands for that is no child of ours: a service, a container."""

    def kill(self) -> str:
        """End it at once; returns how that was seen, in words."""

    def pause(self) -> None:
        """Let all of it stand still."""

    def resume(self) -> None:
        """Let it go on, if it stands still."""

    def paused(self) -> bool:
        """Whether all of it stands still."""


@dataclass(kw_only=True)
class Process:
    """One life of one process, with all that it started."""

    name: str
    instance: str
    popen: subprocess.Popen[bytes]
    log: Path
    on_change: Callable[[Process], None]
    started_at: int = field(default_factory=now)
    ending: bool = False
    """We are ending it, so its end is nothing to be surprised at."""
    ended_at: int | None = None
    how: str | None = None
    outside: Outside | None = None
    gone: str | None = None
    """How what it stands for was seen to be killed."""
    _known: set[tuple[int, int]] = field(default_factory=set, init=False, repr=False)
    """(process id, its start) of all that was ever seen of it."""

    @property
    def session(self) -> int:
        """Session id: equal to the process id of its first process."""
        return self.popen.pid

    def alive(self) -> bool:
        """Whether any process of the session is left that is not a zombie."""
        self.popen.poll()
        return bool(self.pids())

    def members(self) -> int:
        """How many processes of the session are left."""
        return len(self.pids())

    def pids(self) -> list[int]:
        """Process ids of all that is left of it."""
        return [seen.pid for seen in self._look()]

    def _look(self) -> list[proc.Stat]:
        """What is left of it now, zombies not counted."""
        there = {seen.pid: seen for seen in proc.stats()}
        earlier = {seen.pid for seen in there.values() if (seen.pid, seen.since) in self._known}
        found = [there[pid] for pid in sorted(_family(self.session, there, earlier))]
        self._known.update((seen.pid, seen.since) for seen in found)
        return [seen for seen in found if seen.state not in proc.OVER]

    def leader_alive(self) -> bool:
        return self.popen.poll() is None

    def send(self, sig: signal.Signals) -> None:
        for pid in self.pids():
            _kill(pid, sig)

    def freeze(self) -> None:
        """Stop the session in one stroke: repeat until no running member is left.

        The first process group gets it by one system call; members in other groups follow, and the
        sweep is repeated because a member may fork between two looks.
        """
        _kill_group(self.session, signal.SIGSTOP)
        for _ in range(100):
            running = [seen for seen in self._look() if seen.state not in _STOPPED]
            if not running:
                return
            for seen in running:
                _kill(seen.pid, signal.SIGSTOP)
            os.sched_yield()

    def frozen(self) -> bool:
        """Whether all of the session stands still, as the kernel tells.

        Each thread stops when it is scheduled next, so on a busy machine the first one's state says
        little of the others'.
        """
        if self.outside is not None:
            return self.outside.paused()
        first = proc.thread_states(self.popen.pid)
        if not first <= _STOPPED:
            return False  # to look at every process of the machine takes long
        return stand_still([self.popen.pid, *self.pids()])

    def pause(self, stop: Stop | None = None) -> None:
        """Stop the session in its tracks, and see that all of it stands still.

        A thread that starts a program waits inside the kernel until that program is loaded, and
        cannot be stopped there. If the new process was stopped before, both would wait for ever: so
        whatever does not stand still soon goes on for a moment and is stopped anew.

        Raises:
            Overdue: something of it goes on, which only a process stuck in the kernel does.
            Interrupted: the run was asked to stop.
            StageTrouble: what it stands for cannot be paused.
        """

        def all_still() -> bool:
            if self.outside is None:
                self.freeze()
            else:
                self.outside.pause()
            try:
                wait_until(self.frozen, what="", seconds=_STILL_SECONDS, every=0.01, stop=stop)
            except Overdue:
                self.thaw()
                return False
            return True

        wait_until(all_still, what=f"all of {self.instance} to stand still", seconds=30, stop=stop)

    def thaw(self) -> None:
        if self.outside is not None:
            self.outside.resume()
        self.send(signal.SIGCONT)

    def kill(self, how: str, *, seconds: float = 20.0) -> None:
        """SIGKILL the whole session and wait until nothing of it is left.

        Raises:
            Overdue: something survived, which only a process stuck in the kernel does.
        """
        self.ending = True
        if self.outside is not None:
            self.gone = self.outside.kill()
        self.freeze()
        self._end(signal.SIGKILL, how, seconds)

    def all_ended(self, count: int) -> str:
        """That it was killed, in words, when it had so many processes."""
        if self.gone is not None:
            return f"{self.instance} was {self.gone}"
        return f"{self.instance} and all its {count} processes ended by signal 9"

    def ask_to_end(self, sig: signal.Signals = signal.SIGTERM) -> None:
        """Send `sig` to the first process, and go on."""
        self.ending = True
        if self.leader_alive():
            self.popen.send_signal(sig)

    def ask_all_to_end(self) -> None:
        """Send SIGTERM to the first process, and to all others if that leaves them behind.

        A start script ends at once, and tells its program nothing. systemd sends SIGTERM to both.
        """
        self.ask_to_end()
        with suppress(Overdue):
            wait_until(
                lambda: not self.leader_alive(), what="", seconds=_SCRIPT_SECONDS, every=0.005
            )
            self._ask_others()

    def _ask_others(self) -> None:
        if self.outside is None:
            self.send(signal.SIGTERM)

    def stop(self, how: str, *, sig: signal.Signals = signal.SIGTERM, seconds: float = 5.0) -> None:
        """Ask the first process to end with `sig`; kill what is left after `seconds`."""
        self.ask_to_end(sig)
        self._await_end(how, seconds, of=seconds)

    def _await_end(self, how: str, seconds: float, *, of: float) -> None:
        """Wait until all of it has ended; kill what is left after the last `seconds` `of` all."""
        if self._ends_within(seconds):
            self._ended(how)
        else:
            self.kill(f"{how}; had to be killed after {of:g} s")

    def _ends_within(self, seconds: float) -> bool:
        with suppress(Overdue):
            wait_until(lambda: not self.alive(), what="", seconds=seconds)
        return not self.alive()

    def end(self, how: str, *, asked: bool) -> None:
        """End it: by SIGTERM, as a deployment does, or by SIGKILL to all.

        Whatever is left when half of the time is over gets SIGTERM too: a start script may also
        wait for its program, and tell it nothing.

        Raises:
            Overdue: something survived, which only a process stuck in the kernel does.
        """
        if not asked:
            self.kill(how)
            return
        self.ask_all_to_end()
        if not self._ends_within(_PATIENCE / 2):
            self._ask_others()
        self._await_end(how, _PATIENCE / 2, of=_PATIENCE)

    @property
    def ended(self) -> str:
        code = self.popen.poll()
        return "has not ended" if code is None else _ended_with(code)

    def note_exit(self) -> None:
        """Record that the process ended by itself, if it did."""
        if self.ended_at is None and not self.alive():
            # It may have ended after `alive` had asked for it, and before it looked at the session.
            self._ended(_ended_with(self.popen.wait()))

    def _end(self, sig: signal.Signals, how: str, seconds: float) -> None:
        def gone() -> bool:
            self.send(sig)
            return not self.alive()

        wait_until(
            gone,
            what=f"every process of {self.instance} to be gone",
            seconds=seconds,
            every=0.005,
            seen=self.pids,
        )
        self._ended(how)

    def _ended(self, how: str) -> None:
        self.popen.wait()
        if self.ended_at is None:
            self.ended_at, self.how = now(), how
            self.on_change(self)

    def tail(self, lines: int = 4) -> str:
        """The last lines of its log that are no stack frames, and where the whole log is.

        An exception comes first if it stands a little further up: clients that were not closed say
        so behind it.
        """
        try:
            log_lines = self.log.read_text(errors="replace").splitlines()
        except OSError:
            return "it left no log"
        words = [line.strip() for line in log_lines if line.strip() and not _FRAME.match(line)]
        last = words[-lines:]
        raised = next((word for word in reversed(words[-_NEAR:]) if _RAISED.match(word)), None)
        if raised is not None and raised not in last:
            last.insert(0, raised)
        return f"{' | '.join(last)} (whole log: logs/{self.log.name})"


class Processes:
    """All processes of one run, in the order in which they were started."""

    def __init__(
        self, marker: str, logs: Path, on_change: Callable[[Life], None] = lambda _: None
    ) -> None:
        """`on_change` hears of every process that started or ended."""
        self.marker = marker
        self.logs = logs
        self.on_change = on_change
        self.all: list[Process] = []

    def start(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        run_as: Identity | None = None,
        pipes: bool = False,
    ) -> Process:
        """Start `command` in a session of its own, its output going to `logs/<instance>.log`.

        Args:
            name: role of the process; the instance is `<name>#<life>`.
            folder: working directory.
            run_as: another user, where we may.
            pipes: give it pipes as standard input and output instead of the log.

        Raises:
            OSError: the program cannot be started.
        """
        life = 1 + sum(p.name == name for p in self.all)
        instance = f"{name}#{life}"
        log = self.logs / f"{instance.replace('#', '.')}.log"
        with log.open("ab") as out:
            popen = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
                stdout=subprocess.PIPE if pipes else out,
                stderr=out,
                cwd=folder,
                env={**without_credentials(os.environ), **(environment or {}), MARKER: self.marker},
                start_new_session=True,
                user=run_as.uid if run_as else None,
                group=run_as.gid if run_as else None,
                extra_groups=[] if run_as else None,
            )
        process = Process(
            name=name, instance=instance, popen=popen, log=log, on_change=self.on_change
        )
        self.all.append(process)
        self.on_change(process)
        return process

    def kill_all(self, how: str) -> None:
        """End everything that is left, last started first.

        Raises:
            ExceptionGroup: ending some failed, or telling of it; the others were ended.
        """
        failures: list[Exception] = []
        for process in reversed(self.all):
            try:
                if process.ended_at is None:
                    process.note_exit()
                if process.ended_at is None:
                    process.kill(how)
            except Exception as error:
                failures.append(error)
        if failures:
            raise ExceptionGroup("ending processes", failures)


def descendants(pid: int) -> list[int]:
    """Process ids of a process and of all that it started and they did, zombies not counted."""
    there = {seen.pid: seen for seen in proc.stats()}
    family = (there[each] for each in sorted(_family(-1, there, [pid])) if each in there)
    return [seen.pid for seen in family if seen.state not in proc.OVER]


def stand_still(pids: Iterable[int]) -> bool:
    """Whether every thread of some processes is stopped, as the kernel tells; none are: no."""
    states = {state for pid in pids for state in proc.thread_states(pid)}
    return bool(states) and states <= _STOPPED


_STOPPED: Final = frozenset("Tt")
"""States of a process that stands still."""
_FRAME = re.compile(r"\s+(at |File |\.\.\. \d+ more|\^+)|\s{4}")
_RAISED = re.compile(r"(Exception in thread \S+ )?[\w.$]*(Error|Exception)\b(: |$)")
"""An exception, as Python and Java write it below or above its stack frames."""
_NEAR = 20
"""Lines from the end in which an exception is taken for what ended a process."""


def _family(session: int, there: Mapping[int, proc.Stat], earlier: Collection[int]) -> set[int]:
    """Process ids of a session, of what was known to belong to it, and of every child of those.

    PostgreSQL gives each of its processes a session of its own.
    """
    ours = {pid for pid, seen in there.items() if seen.session == session} | set(earlier)
    while more := {pid for pid, seen in there.items() if seen.parent in ours} - ours:
        ours |= more
    return ours


def _ended_with(code: int) -> str:
    return f"ended by signal {-code}" if code < 0 else f"exited with {code}"


def _kill(pid: int, sig: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, sig)


def _kill_group(group: int, sig: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, sig)

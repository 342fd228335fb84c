"""Start each process of a run in its own session, and end the whole session.

A `Process` is a *session* and everything that it started. A Spark driver is a Python process, a
JVM, a Python daemon in its own process group and that daemon's workers; they share only the session
id. A process that was once seen to belong stays a member, because a child with its own session
loses its parent when the first process dies. Every process has the run's marker in its environment,
by which the reaper and later sweeps find it.
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
"""Environment variable of every process of a run; its value is the run's marker."""
_PATIENCE: Final = 20.0
"""Seconds that a process may take to end after SIGTERM."""
_SCRIPT_SECONDS: Final = 0.5
"""Seconds within which a start script without a SIGTERM handler ends."""
_SUSPEND_SECONDS: Final = 2.0
"""Seconds that a session may take to stop before SIGSTOP is sent again."""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """User and group of a process."""

    uid: int
    gid: int


class ExternalProcess(Protocol):
    """A service or container that a process represents and that is not our child."""

    def kill(self) -> str:
        """Kill it; return a description of how it was seen to end."""

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    def paused(self) -> bool: ...


@dataclass(kw_only=True)
class Process:
    """One life of a process, with everything that it started."""

    name: str
    instance: str
    popen: subprocess.Popen[bytes]
    log: Path
    on_change: Callable[[Process], None]
    started_at: int = field(default_factory=now)
    ending: bool = False
    """Whether we are ending it, so that its end is expected."""
    ended_at: int | None = None
    how: str | None = None
    outside: ExternalProcess | None = None
    gone: str | None = None
    """How `outside` was seen to be killed."""
    _suspended: bool = field(default=False, init=False, repr=False)
    _known: set[tuple[int, int]] = field(default_factory=set, init=False, repr=False)
    """(process id, start time) of every member ever seen."""

    @property
    def session(self) -> int:
        """Session id, which is the process id of the first process."""
        return self.popen.pid

    def alive(self) -> bool:
        """Return whether any process that is not a zombie is left."""
        self.popen.poll()
        return bool(self.pids())

    def members(self) -> int:
        return len(self.pids())

    def pids(self) -> list[int]:
        return [seen.pid for seen in self._living_members()]

    def _living_members(self) -> list[proc.Stat]:
        by_pid = {seen.pid: seen for seen in proc.stats()}
        earlier = {seen.pid for seen in by_pid.values() if (seen.pid, seen.since) in self._known}
        found = [by_pid[pid] for pid in sorted(_family(self.session, by_pid, earlier))]
        self._known.update((seen.pid, seen.since) for seen in found)
        return [seen for seen in found if seen.state not in proc.OVER]

    def leader_alive(self) -> bool:
        return self.popen.poll() is None

    def send(self, sig: signal.Signals) -> None:
        for pid in self.pids():
            _kill(pid, sig)

    def freeze(self) -> None:
        """Send SIGSTOP to the session until no member runs, because a member may fork meanwhile."""
        self._suspended = True
        _kill_group(self.session, signal.SIGSTOP)
        for _ in range(100):
            running = [seen for seen in self._living_members() if seen.state not in _STOPPED]
            if not running:
                return
            for seen in running:
                _kill(seen.pid, signal.SIGSTOP)
            os.sched_yield()

    def frozen(self) -> bool:
        """Return whether the kernel reports every thread of the session as stopped.

        A thread stops when it is next scheduled, so on a busy machine one thread's state says
        little about the others.
        """
        if self.outside is not None:
            return self.outside.paused()
        first = proc.thread_states(self.popen.pid)
        if not first <= _STOPPED:
            return False  # reading every process of the machine is slow
        return stand_still([self.popen.pid, *self.pids()])

    def pause(self, stop: Stop | None = None) -> None:
        """Pause the session (SIGSTOP) and wait until every thread has stopped.

        A thread that starts a program waits in the kernel until the program is loaded, and cannot
        be stopped there. If the new process was stopped first, both would wait forever. So a
        session that does not stop within `_SUSPEND_SECONDS` is resumed and stopped again.

        Raises:
            Overdue: a thread still runs, which only a process stuck in the kernel does.
            Interrupted: the run was asked to stop.
            StageTrouble: `outside` cannot be paused.
        """

        def all_suspended() -> bool:
            self._suspended = True
            if self.outside is None:
                self.freeze()
            else:
                self.outside.pause()
            try:
                wait_until(self.frozen, what="", seconds=_SUSPEND_SECONDS, every=0.01, stop=stop)
            except Overdue:
                self.thaw()
                return False
            return True

        wait_until(
            all_suspended,
            what=f"all processes of {self.instance} to be suspended",
            seconds=30,
            stop=stop,
        )

    def thaw(self) -> None:
        if self.outside is not None:
            self.outside.resume()
        self.send(signal.SIGCONT)
        self._suspended = False

    def kill(self, how: str, *, seconds: float = 20.0) -> None:
        """Send SIGKILL to the whole session and wait until no process is left.

        Raises:
            Overdue: a process survived, which only one stuck in the kernel does.
        """
        self.ending = True
        if self.outside is not None:
            self.gone = self.outside.kill()
        self.freeze()
        self._end(signal.SIGKILL, how, seconds)

    def all_ended(self, count: int) -> str:
        if self.gone is not None:
            return f"{self.instance} was {self.gone}"
        return f"{self.instance} and all its {count} processes ended by signal 9"

    def ask_to_end(self, sig: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal to the first process; if it is suspended, resume it, as systemd does."""
        self.ending = True
        if self.leader_alive():
            self.popen.send_signal(sig)
        if self._suspended:
            self.thaw()

    def ask_all_to_end(self) -> None:
        """Send SIGTERM to the first process, and to the others if it ends without them.

        A start script ends at once without signalling its program. systemd sends SIGTERM to both.
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
        """Send `sig` to the first process; kill what is left after `seconds`."""
        self.ask_to_end(sig)
        self._await_end(how, seconds, of=seconds)

    def _await_end(self, how: str, seconds: float, *, of: float) -> None:
        """Wait up to `seconds` for its end, then kill the rest; the message says `of` seconds."""
        if self._ends_within(seconds):
            self._ended(how)
        else:
            self.kill(f"{how}; had to be killed after {of:g} s")

    def _ends_within(self, seconds: float) -> bool:
        with suppress(Overdue):
            wait_until(lambda: not self.alive(), what="", seconds=seconds)
        return not self.alive()

    def end(self, how: str, *, asked: bool) -> None:
        """End it with SIGTERM, as a deployment does, or with SIGKILL.

        After half of the time all processes get SIGTERM, because a start script may not forward it.

        Raises:
            Overdue: a process survived, which only one stuck in the kernel does.
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
        return "has not ended" if code is None else _describe_exit(code)

    def note_exit(self) -> None:
        """Record that the process ended by itself, if it did."""
        if self.ended_at is None and not self.alive():
            # It may have ended after `alive` polled it and before `alive` read the session.
            self._ended(_describe_exit(self.popen.wait()))

    def _end(self, sig: signal.Signals, how: str, seconds: float) -> None:
        def gone() -> bool:
            self.send(sig)
            return not self.alive()

        wait_until(
            gone,
            what=f"every process of {self.instance} to end",
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
        """Return the last lines of its log without stack frames, and the path of the log.

        A recent exception is put first: clients that were not closed log more lines after it.
        """
        try:
            log_lines = self.log.read_text(errors="replace").splitlines()
        except OSError:
            return "no log file"
        messages = [line.strip() for line in log_lines if line.strip() and not _FRAME.match(line)]
        last = messages[-lines:]
        raised = next(
            (line for line in reversed(messages[-_EXCEPTION_LINES:]) if _RAISED.match(line)), None
        )
        if raised is not None and raised not in last:
            last.insert(0, raised)
        return f"{' | '.join(last)} (whole log: logs/{self.log.name})"


class Processes:
    """All processes of one run, in start order."""

    def __init__(
        self, marker: str, logs: Path, on_change: Callable[[Life], None] = lambda _: None
    ) -> None:
        """`on_change` is called for every process that started or ended."""
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
        """Start `command` in its own session, with its output in `logs/<name>.<life>.log`.

        Args:
            name: role of the process; the instance is `<name>#<life>`.
            folder: working directory.
            run_as: another user, if we are permitted to switch.
            pipes: use pipes as standard input and output; only standard error goes to the log.

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
        """Kill every remaining process, the last started first.

        Raises:
            ExceptionGroup: killing or reporting some failed; the others were killed.
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
            raise ExceptionGroup("could not end every process", failures)


def descendants(pid: int) -> list[int]:
    """Return the ids of a process and all its descendants, without zombies."""
    by_pid = {seen.pid: seen for seen in proc.stats()}
    family = (by_pid[each] for each in sorted(_family(-1, by_pid, [pid])) if each in by_pid)
    return [seen.pid for seen in family if seen.state not in proc.OVER]


def stand_still(pids: Iterable[int]) -> bool:
    """Return whether every thread of these processes is stopped; False without any thread."""
    states = {state for pid in pids for state in proc.thread_states(pid)}
    return bool(states) and states <= _STOPPED


_STOPPED: Final = frozenset("Tt")
_FRAME = re.compile(r"\s+(at |File |\.\.\. \d+ more|\^+)|\s{4}")
_RAISED = re.compile(r"(Exception in thread \S+ )?[\w.$]*(Error|Exception)\b(: |$)")
"""An exception, as Python prints it below its stack frames and Java above them."""
_EXCEPTION_LINES = 20
"""An exception within this many last lines is taken to be what ended the process."""


def _family(session: int, by_pid: Mapping[int, proc.Stat], earlier: Collection[int]) -> set[int]:
    """Return the ids of a session's processes, its earlier members, and all their descendants.

    PostgreSQL gives each of its processes its own session.
    """
    ours = {pid for pid, seen in by_pid.items() if seen.session == session} | set(earlier)
    while more := {pid for pid, seen in by_pid.items() if seen.parent in ours} - ours:
        ours |= more
    return ours


def _describe_exit(code: int) -> str:
    return f"ended by signal {-code}" if code < 0 else f"exited with {code}"


def _kill(pid: int, sig: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, sig)


def _kill_group(group: int, sig: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, sig)

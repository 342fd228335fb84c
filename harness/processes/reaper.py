"""A small process that briefly outlives the harness and ends the processes that it left behind.

It reads a pipe whose other end the harness holds; when the harness is gone for any reason, the read
returns. Its arguments are the run's marker, by which it finds the run's processes, and the folders
that it removes. It keeps the run's loopback block reserved until all are gone. It also checks after
an orderly end, to complete a tear-down that failed half-way.

Uses the standard library only, so that it starts within about 20 ms.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time

from onceproof.harness.processes import proc

MARKER = b"ONCEPROOF_RUN="


def marked(marker: str) -> list[int]:
    wanted = MARKER + marker.encode()
    return [pid for pid in proc.pids() if pid != os.getpid() and wanted in proc.environment(pid)]


def in_sessions(sessions: set[int]) -> list[int]:
    """Return the ids of processes in one of `sessions` that are not zombies.

    PostgreSQL's children overwrite their environment with their title, which loses the marker but
    not the session.
    """
    return [
        seen.pid
        for seen in proc.stats()
        if seen.session in sessions and seen.state not in proc.OVER
    ]


def is_postmaster(pid: int) -> bool:
    program, *arguments = proc.arguments(pid) or [b""]
    return program.endswith(b"/postgres") and b"-D" in arguments


def reap(marker: str, *, seconds: float = 9.0, asking: float = 1.5) -> list[int]:
    """End every process of a run and return the ids of those processes.

    PostgreSQL first gets SIGQUIT (immediate shutdown): a SIGKILL would leave a shared memory
    segment behind. The search is repeated until two in a row find nothing, because a process may
    have been started in between.

    Args:
        seconds: maximum duration of the search.
        asking: for how long PostgreSQL gets SIGQUIT instead of SIGKILL.
    """
    ended: set[int] = set()
    sessions: set[int] = set()
    deadline = time.monotonic() + seconds
    ask_until = time.monotonic() + asking
    quiet = 0
    while quiet < 2 and time.monotonic() < deadline:
        found = marked(marker)
        sessions |= _sessions_of(found)
        found = sorted({*found, *in_sessions(sessions)})
        quiet = 0 if found else quiet + 1
        for pid in found:
            ended.add(pid)
            ask = is_postmaster(pid) and time.monotonic() < ask_until
            try:
                os.kill(pid, signal.SIGQUIT if ask else signal.SIGKILL)
                if ask:
                    os.kill(pid, signal.SIGCONT)
            except OSError:
                continue
        signal.sigtimedwait([signal.SIGUSR1], 0.03)
    return sorted(ended)


def _sessions_of(pids: list[int]) -> set[int]:
    """Return the sessions of these processes without our own; each child of a run has its own."""
    sessions = set()
    for pid in pids:
        try:
            sessions.add(os.getsid(pid))
        except OSError:
            continue
    return sessions - {os.getsid(0)}


def main() -> None:
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(ignored, signal.SIG_IGN)
    marker = sys.argv[1]
    sys.stdin.buffer.read()
    ended = reap(marker)
    for folder in sys.argv[2:]:
        shutil.rmtree(folder, ignore_errors=True)
    if ended:
        print(f"the harness of run {marker} has exited; ended its processes {ended}", flush=True)


if __name__ == "__main__":
    main()

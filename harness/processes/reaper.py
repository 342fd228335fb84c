"""A small process that outlives the harness by a moment and ends what it left behind.

It waits for the end of a pipe. The harness holds the other end; when the
harness is gone, however it went, the read returns. It gets the run's marker as its first argument,
finds the run's processes by it, removes the folders that follow it, and holds the run's loopback
block until all are gone. It looks after an orderly end too, so that a tear-down which failed
half-way is made whole.

Runs with nothing but the standard library, so that it is there within some 20 ms.
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
    """Process ids whose environment carries `ONCEPROOF_RUN=<marker>`."""
    wanted = MARKER + marker.encode()
    return [pid for pid in proc.pids() if pid != os.getpid() and wanted in proc.environment(pid)]


def in_sessions(sessions: set[int]) -> list[int]:
    """Process ids that belong to one of `sessions` and are not zombies.

    PostgreSQL's children write their title over their environment, so that the marker is lost; the
    session stays.
    """
    return [
        seen.pid
        for seen in proc.stats()
        if seen.session in sessions and seen.state not in proc.OVER
    ]


def is_postmaster(pid: int) -> bool:
    """Whether a process is a PostgreSQL server's first process."""
    program, *arguments = proc.arguments(pid) or [b""]
    return program.endswith(b"/postgres") and b"-D" in arguments


def reap(marker: str, *, seconds: float = 9.0, asking: float = 1.5) -> list[int]:
    """End every process of a run; returns the process ids that were ended.

    PostgreSQL is asked first (immediate shutdown): killed outright it would leave a shared memory
    segment behind. Everything is looked for again until two looks find nothing, because a process
    may have been started between them.

    Args:
        marker: what the processes of the run carry.
        seconds: how long to look for them at most.
        asking: how long PostgreSQL is asked before it is killed.
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
    """The sessions of some processes, without our own: each of the run's children leads its own."""
    sessions = set()
    for pid in pids:
        try:
            sessions.add(os.getsid(pid))
        except OSError:
            continue
    return sessions - {os.getsid(0)}


def main() -> None:
    """Wait for the end of standard input, then reap."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(ignored, signal.SIG_IGN)
    marker = sys.argv[1]
    sys.stdin.buffer.read()
    ended = reap(marker)
    for folder in sys.argv[2:]:
        shutil.rmtree(folder, ignore_errors=True)
    if ended:
        print(f"the harness of run {marker} was gone; ended processes {ended}", flush=True)


if __name__ == "__main__":
    main()

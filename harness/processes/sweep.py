"""Find and end the processes of runs whose harness is gone.

A run's marker begins with the harness's process id and start time, so that a reused process id is
not taken for the harness. Process ids are valid only in their own PID namespace, so processes in
containers are left alone.
"""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from onceproof.harness.processes import proc
from onceproof.harness.processes.processes import MARKER
from onceproof.harness.processes.reaper import reap


@dataclass(frozen=True, kw_only=True)
class Leftover:
    """Processes of one run whose harness is gone."""

    marker: str
    processes: tuple[str, ...]
    """`<pid> <program>` of each."""


def new_marker() -> str:
    """Return a new run marker: our process id, our start time, and the current time."""
    return f"{os.getpid()}-{_started(os.getpid())}-{time.monotonic_ns():x}"


def where() -> str:
    """Return an id of this machine and PID namespace; markers from elsewhere are not valid here.

    Several machines or containers may see the containers of one engine.
    """
    try:
        machine = Path("/etc/machine-id").read_text().strip()
    except OSError:
        machine = "unknown"
    space = proc.namespace(os.getpid())
    return hashlib.sha256(f"{machine} {space}".encode()).hexdigest()[:16]


def find_leftovers() -> list[Leftover]:
    return [
        Leftover(marker=marker, processes=tuple(processes))
        for marker, processes in sorted(_marked().items())
        if not harness_alive(marker)
    ]


def living() -> bool:
    """Return whether a run is in progress whose processes we may read."""
    return any(harness_alive(marker) for marker in _marked())


def _marked() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    ours = proc.namespace(os.getpid())
    for pid in proc.pids():
        for variable in proc.environment(pid):
            name, _, value = variable.partition(b"=")
            command = proc.arguments(pid) if name == MARKER.encode() else []
            if command and proc.namespace(pid) == ours:
                program = command[0].decode(errors="replace")
                found.setdefault(value.decode(errors="replace"), []).append(f"{pid} {program}")
    return found


def sweep() -> list[Leftover]:
    leftovers = find_leftovers()
    for leftover in leftovers:
        reap(leftover.marker, seconds=5)
    return leftovers


def harness_alive(marker: str) -> bool:
    pid, _, rest = marker.partition("-")
    started = rest.partition("-")[0]
    return pid.isdigit() and _started(int(pid)) == started


def _started(pid: int) -> str | None:
    """Return a process's start time in clock ticks since boot; None if it is gone or a zombie."""
    seen = proc.stat(pid)
    return None if seen is None or seen.state in proc.OVER else str(seen.since)

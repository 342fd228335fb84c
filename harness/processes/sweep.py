"""What runs left behind whose harness is gone, and ending it.

A run's marker begins with the harness's process id and start time, so that a
process id that has been given away again is not taken for the harness. Ids mean something only in
their own namespace: what runs in a container is seen from outside under other ids, and left alone.
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
    """A marker for a run of this process: process id, its start time, and a moment."""
    return f"{os.getpid()}-{_started(os.getpid())}-{time.monotonic_ns():x}"


def where() -> str:
    """This machine and its process ids: a marker from elsewhere says nothing here.

    Containers of one engine may be seen from several machines or containers.
    """
    try:
        machine = Path("/etc/machine-id").read_text().strip()
    except OSError:
        machine = "unknown"
    space = proc.namespace(os.getpid())
    return hashlib.sha256(f"{machine} {space}".encode()).hexdigest()[:16]


def find_leftovers() -> list[Leftover]:
    """Marked processes that we may look at and whose harness is gone."""
    return [
        Leftover(marker=marker, processes=tuple(processes))
        for marker, processes in sorted(_marked().items())
        if not harness_alive(marker)
    ]


def living() -> bool:
    """Whether a run is under way, as far as we may look at its processes."""
    return any(harness_alive(marker) for marker in _marked())


def _marked() -> dict[str, list[str]]:
    """Marked processes that we may look at, by their marker."""
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
    """End what dead runs left behind; returns what that was."""
    leftovers = find_leftovers()
    for leftover in leftovers:
        reap(leftover.marker, seconds=5)
    return leftovers


def harness_alive(marker: str) -> bool:
    """Whether the process that made a marker still runs."""
    pid, _, rest = marker.partition("-")
    started = rest.partition("-")[0]
    return pid.isdigit() and _started(int(pid)) == started


def _started(pid: int) -> str | None:
    """A process's start time in clock ticks since boot, as the kernel prints it; None if it is
    gone, which a zombie is too.
    """
    seen = proc.stat(pid)
    return None if seen is None or seen.state in proc.OVER else str(seen.since)

"""Read the processes of this machine from `/proc`.

A process that ended in the meantime, or that we may not read, yields an empty result. Uses the
standard library only, because the reaper imports this module.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

OVER = frozenset("ZX")
"""States of a process that has ended but has not been waited for."""


class Stat(NamedTuple):
    """A snapshot of one process."""

    pid: int
    state: str
    parent: int
    session: int
    since: int
    """Start time in clock ticks since boot; needed because process ids are reused."""


def pids() -> list[int]:
    """Return the ids of all processes, including zombies."""
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def stat(pid: int) -> Stat | None:
    """Return a process, which may be a zombie; None if it is gone."""
    try:
        fields = _fields(Path("/proc", str(pid), "stat"))
    except OSError:
        return None
    return Stat(pid, fields[0].decode(), int(fields[1]), int(fields[3]), since=int(fields[19]))


def stats() -> list[Stat]:
    return [found for pid in pids() if (found := stat(pid))]


def thread_states(pid: int) -> set[str]:
    """Return the states of a process's threads, without those that have ended."""
    states = set()
    with suppress(OSError):  # the process may end while its threads are listed
        for path in Path("/proc", str(pid), "task").glob("*/stat"):
            with suppress(OSError):
                states.add(_fields(path)[0].decode())
    return states - OVER


def arguments(pid: int) -> list[bytes]:
    """Return the command line of a process, its program first; `[b""]` for a zombie."""
    return _strings(pid, "cmdline")


def environment(pid: int) -> list[bytes]:
    return _strings(pid, "environ")


def namespace(pid: int) -> Path | None:
    try:
        return Path("/proc", str(pid), "ns", "pid").readlink()
    except OSError:
        return None


def open_paths(pid: int) -> Iterator[str]:
    """Yield the working directory of a process and the paths of its open files."""
    process = Path("/proc", str(pid))
    with suppress(OSError):
        for link in (process / "cwd", *(process / "fd").iterdir()):
            with suppress(OSError):
                yield str(link.readlink())


def _strings(pid: int, file: str) -> list[bytes]:
    try:
        return Path("/proc", str(pid), file).read_bytes().split(b"\0")
    except OSError:
        return []


def _fields(stat: Path) -> list[bytes]:
    """Return the fields of a `stat` file, from the state on."""
    # The command name may contain spaces and parentheses, so split at the last parenthesis.
    return stat.read_bytes().rpartition(b") ")[2].split()

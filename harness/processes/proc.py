"""What the kernel tells of this machine's processes, in `/proc`.

A process may end while it is looked at: what is gone, or not ours to look at, has nothing to tell.
Runs with nothing but the standard library, because the reaper reads by it too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

OVER = frozenset("ZX")
"""States of a process that has ended and that nobody has waited for yet."""


class Stat(NamedTuple):
    """A process at one look."""

    pid: int
    state: str
    parent: int
    session: int
    since: int
    """When it started, in ticks since the boot: a process id alone may be given out anew."""


def pids() -> list[int]:
    """Process ids of all processes, zombies too."""
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def stat(pid: int) -> Stat | None:
    """A process, which may be a zombie; None if it is gone."""
    try:
        fields = _fields(Path("/proc", str(pid), "stat"))
    except OSError:
        return None
    return Stat(pid, fields[0].decode(), int(fields[1]), int(fields[3]), since=int(fields[19]))


def stats() -> list[Stat]:
    """Every process, zombies too."""
    return [found for pid in pids() if (found := stat(pid))]


def thread_states(pid: int) -> set[str]:
    """States of the threads of a process that have not ended."""
    states = set()
    with suppress(OSError):  # it may go while its threads are listed
        for path in Path("/proc", str(pid), "task").glob("*/stat"):
            with suppress(OSError):
                states.add(_fields(path)[0].decode())
    return states - OVER


def arguments(pid: int) -> list[bytes]:
    """The command line of a process, its program first; of a zombie `[b""]`."""
    return _strings(pid, "cmdline")


def environment(pid: int) -> list[bytes]:
    """The variables that a process was started with, as `NAME=value`."""
    return _strings(pid, "environ")


def namespace(pid: int) -> Path | None:
    """The namespace in which a process has its id."""
    try:
        return Path("/proc", str(pid), "ns", "pid").readlink()
    except OSError:
        return None


def open_paths(pid: int) -> Iterator[str]:
    """Where a process stands, and what it has open."""
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
    """What a line of `stat` says, from the state on."""
    # The command name may hold spaces and parentheses: fields start behind the last one.
    return stat.read_bytes().rpartition(b") ")[2].split()

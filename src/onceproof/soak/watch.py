"""Monitor the resources of a long series of runs, and detect leaks.

A value grows if *all* of the latest few readings exceed *all* of the first few by more than noise.
A single high reading means nothing. The first two runs are ignored, because they load what later
ones reuse.
"""

from __future__ import annotations

import gc
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import psutil

from onceproof.harness.processes.sweep import find_leftovers

LEAST_FREE: Final = 5 * 2**30
"""Bytes of disk space to keep free, for the brokers' data of a run and for other programs."""

_WARM_UP: Final = 2
_COMPARED: Final = 4
_WATCHED: Final = {
    "memory": ("the memory of this process", 192 * 2**20),
    "processes": ("the number of processes of onceproof", 0),
    "threads": ("the number of threads of this process", 4),
    "files": ("the number of open files of this process", 8),
    "left_over": ("the number of processes that runs left behind", 0),
}
"""Names of the monitored values, and how much growth is noise: bytes, or a number."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Resources in use between two runs.

    Attributes:
        memory: resident bytes of this process.
        processes: this process and all its descendants.
        left_over: processes of runs whose harness is dead.
        free: free bytes of the disk.
    """

    memory: int
    processes: int
    threads: int
    files: int
    left_over: int
    free: int


def read(folder: Path) -> Reading:
    """Measure now; `folder` is on the disk in question."""
    # Garbage is not a leak, but keeps files open until it is collected.
    gc.collect()
    me = psutil.Process()
    return Reading(
        memory=me.memory_info().rss,
        processes=1 + len(me.children(recursive=True)),
        threads=me.num_threads(),
        files=me.num_fds(),
        left_over=sum(len(leftover.processes) for leftover in find_leftovers()),
        free=free_bytes(folder),
    )


def trouble(readings: Sequence[Reading], *, least_free: int, folder: Path) -> str | None:
    """Return why the series must stop, or None; `least_free` is in bytes, of `folder`'s disk."""
    if readings and (low := low_disk(readings[-1].free, least_free, folder)):
        return low
    return growth(readings)


def low_disk(free: int, least: int, folder: Path) -> str | None:
    """Return a message if disk space is low."""
    if free >= least:
        return None
    return (
        f"stopping: the disk of {folder} has {free / 2**30:.1f} GiB free, less than the required "
        f"{least / 2**30:.1f} GiB. Free disk space or choose another folder with --out, then start "
        "again"
    )


def growth(readings: Sequence[Reading]) -> str | None:
    """Return a message if a value keeps growing."""
    warm = readings[_WARM_UP:]
    if len(warm) < 2 * _COMPARED:
        return None
    for name, (words, noise) in _WATCHED.items():
        values = [asdict(reading)[name] for reading in warm]
        first, last = values[:_COMPARED], values[-_COMPARED:]
        if min(last) > max(first) + noise:
            return (
                f"stopping: {words} grew from "
                f"{_amount(name, max(first))} to {_amount(name, min(last))} over {len(readings)} "
                "runs. This is a leak in onceproof; the series is in the soak's file of readings"
            )
    return None


def free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def _amount(name: str, value: int) -> str:
    return f"{value / 2**20:.0f} MiB" if name == "memory" else str(value)

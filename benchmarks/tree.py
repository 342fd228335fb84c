"""A look at a process and everything that it started, through /proc.

A process may be gone between two looks, and then it simply counts no more.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PROC: Final = Path("/proc")


def members(root: int) -> list[int]:
    """The process and all its descendants."""
    found, waiting = [], [root]
    while waiting:
        process = waiting.pop()
        found.append(process)
        for children in _PROC.glob(f"{process}/task/*/children"):
            waiting += map(int, _text(children).split())
    return found


def cpu_seconds(process: int) -> float:
    """Processor time of one process, without its children."""
    # The name is in parentheses and may itself hold spaces and parentheses.
    fields = _text(_PROC / str(process) / "stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS if fields else 0.0


def proportional_bytes(process: int) -> int:
    """Memory of one process, with what it shares divided among those who share it (PSS)."""
    for line in _text(_PROC / str(process) / "smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""

"""Running a command in a process of its own, and what that cost.

The kernel's own high-water mark tells the peak of one process exactly, but
of the largest one only. Where a command starts others (Spark's JVM), the sum over the tree is
sampled as well, and the greater figure counts. The mark begins with what this process holds when it
starts the other, which is why nothing big is imported here.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks import tree

_ROOT: Final = Path(__file__).parents[1]
"""Where `python -m` finds our packages."""
_EVERY: Final = 0.2
"""Seconds between two looks at the tree."""
_NO_BYTE_CODE: Final = "PYTHONDONTWRITEBYTECODE"
"""Set in many containers; Python as it comes compiles a module once and not for each process."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What one run of a command cost."""

    wall: float
    """Seconds."""
    cpu: float
    """Seconds of all processors."""
    peak: int
    """Bytes."""


@dataclass(frozen=True, kw_only=True)
class Ran:
    """One run of a command."""

    cost: Cost
    exit_code: int
    output: str
    errors: str


def run(command: Sequence[str]) -> Ran:
    """Run a command to its end, from the project's folder.

    What is left of its processes then is killed.
    """
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=_ROOT,
            env={name: value for name, value in os.environ.items() if name != _NO_BYTE_CODE},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
        try:
            with _Watch(process.pid) as watch:
                _, status, usage = os.wait4(process.pid, 0)
                wall = time.perf_counter() - started
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            _end(process.pid)
        output.seek(0)
        errors.seek(0)
        return Ran(
            cost=Cost(
                wall=wall,
                cpu=max(usage.ru_utime + usage.ru_stime, watch.cpu),
                peak=max(usage.ru_maxrss * 1024, watch.peak),
            ),
            exit_code=process.returncode,
            output=output.read(),
            errors=errors.read(),
        )


def _end(session: int) -> None:
    """Nothing that the command started may disturb the next one."""
    try:
        os.killpg(session, signal.SIGKILL)
    except ProcessLookupError:
        return


class _Watch:
    """Looks at a process tree again and again, on a thread of its own."""

    def __init__(self, root: int) -> None:
        self.peak = 0
        self._cpu: dict[int, float] = {}
        self._root = root
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    @property
    def cpu(self) -> float:
        """Processor time of all that were seen, each as last seen."""
        return sum(self._cpu.values())

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(_EVERY):
            members = tree.members(self._root)
            for process in members:
                self._cpu[process] = max(self._cpu.get(process, 0.0), tree.cpu_seconds(process))
            if len(members) > 1:  # a look at memory holds a process up, so one alone is spared it
                self.peak = max(self.peak, sum(map(tree.proportional_bytes, members)))

"""The executors of a Spark driver that has processes of its own for them (`local-cluster[…]`).

The one thing to know: they are found among the processes of the driver's session, each by the id
that Spark gave it, which it never gives twice.
"""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress
from pathlib import Path
from typing import Final

from harness.bench import Bench
from harness.faults.at_rest import pipeline_of
from harness.stage.processes import Process, session_members

_BACKEND: Final = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"
_ID: Final = re.compile(rb"\0--executor-id\0(\d+)\0")
_LOST_TASK: Final = re.compile(r"Lost task \S+ in stage \S+ \(TID \d+\)")
_EXIT: Final = re.compile(r"Command exited with code (\d+)")


class Executors:
    """The executors of the driver's present life."""

    def __init__(self, bench: Bench) -> None:
        """Of whoever is the driver now.

        Raises:
            LookupError: there is no driver.
        """
        process = pipeline_of(bench).process
        if process is None:
            raise LookupError("the driver does not run")
        self.process: Process = process
        self._told = process.log.stat().st_size

    def found(self) -> dict[int, int]:
        """Spark's id of each executor that lives → its process id."""
        executors = {}
        for pid in session_members(self.process.session):
            with suppress(OSError):
                line = Path("/proc", str(pid), "cmdline").read_bytes()
                if _BACKEND in line and (id_ := _ID.search(line)):
                    executors[int(id_[1])] = pid
        return executors

    def lost_tasks(self) -> int:
        """How many tasks the driver has told as lost since this was made."""
        return len(set(_LOST_TASK.findall(self._news())))

    def exits(self) -> list[int]:
        """With what codes executors ended, as the driver has told since this was made."""
        return [int(code) for code in _EXIT.findall(self._news())]

    def _news(self) -> str:
        with self.process.log.open("rb") as log:
            log.seek(self._told)
            return log.read().decode(errors="replace")


def sigkill(pid: int) -> None:
    """SIGKILL a process; one that is gone is fine."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)

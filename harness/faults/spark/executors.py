"""Find the executors of a Spark driver that runs them as processes (`local-cluster[…]`)."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.spark.driver import driver
from onceproof.harness.processes import proc
from onceproof.harness.processes.processes import Process

_BACKEND: Final = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"
_ID: Final = re.compile(rb"\0--executor-id\0(\d+)\0")
_LOST_TASK: Final = re.compile(
    r"Lost task \S+ in stage \S+ \(TID (\d+)\) \(\S+ executor (\d+)\): ExecutorLostFailure"
)
_ENDED: Final = re.compile(r"Lost executor (\d+) on \S+: Command exited with code (\d+)")


class Executors:
    """The executors of the running driver, by Spark's executor id, which is never reused."""

    def __init__(self, context: RunContext) -> None:
        """Raise `LookupError` if there is no driver."""
        process = driver(context).process
        if process is None:
            raise LookupError("the driver is not running")
        self.process: Process = process
        self._log_size = process.log.stat().st_size

    def found(self) -> dict[int, int]:
        """Return the Spark id of each live executor → its process id."""
        executors = {}
        for pid in self.process.pids():
            line = b"\0".join(proc.arguments(pid))
            if _BACKEND in line and (id_ := _ID.search(line)):
                executors[int(id_[1])] = pid
        return executors

    def lost_tasks(self, executors: Iterable[int]) -> int:
        """Return how many tasks the driver has logged as lost with these executors."""
        lost = set(executors)
        return len({task for task, n in _LOST_TASK.findall(self._new_output()) if int(n) in lost})

    def codes(self) -> dict[int, int]:
        """Return the Spark id of each executor logged as ended → its exit code."""
        return {int(n): int(code) for n, code in _ENDED.findall(self._new_output())}

    def _new_output(self) -> str:
        with self.process.log.open("rb") as log:
            log.seek(self._log_size)
            return log.read().decode(errors="replace")


def send(pid: int, sig: signal.Signals) -> None:
    """Send a signal to a process, unless it has ended."""
    with suppress(ProcessLookupError):
        os.kill(pid, sig)

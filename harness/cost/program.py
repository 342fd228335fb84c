"""Programs that are measured."""

from __future__ import annotations

import json
import select
from contextlib import suppress
from typing import Any, Final

import psutil

from onceproof.harness.cost.processor import processor_seconds
from onceproof.harness.processes.processes import Process
from onceproof.harness.processes.trouble import StageTrouble

_START_SECONDS: Final = 90.0


class Program:
    """A running program, with the processes that it started.

    One that does not answer, such as a user's, is ready when its results come.
    """

    def __init__(self, process: Process) -> None:
        self._process = process

    def processor_seconds(self) -> float:
        """Return what its processes have used, with those that ended and were waited for.

        Raises:
            StageTrouble: it ended.
        """
        if not self._process.leader_alive():
            raise StageTrouble(f"{self._process.instance} ended; last log lines: {self.tail()}")
        used = 0.0
        for pid in self._process.pids():
            with suppress(OSError, psutil.NoSuchProcess):  # a child that ended meanwhile
                used += processor_seconds(pid)
                ended = psutil.Process(pid).cpu_times()
                used += ended.children_user + ended.children_system
        return used

    def tail(self) -> str:
        return self._process.tail()

    def end(self) -> None:
        self._process.kill("no longer needed")


class AnsweringProgram(Program):
    """A program that answers each order, a line of JSON, with a line of JSON."""

    def __init__(self, process: Process) -> None:
        """Wait until it is ready.

        Args:
            process: started with pipes.

        Raises:
            StageTrouble: it ended, or is not ready in time.
        """
        super().__init__(process)
        self._answer(_START_SECONDS)

    def ask(self, order: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Return the answer to an order; raise `StageTrouble` without one in time."""
        popen = self._process.popen
        assert popen.stdin is not None, "it is started with pipes"
        with suppress(BrokenPipeError):  # it has ended, and will not answer
            popen.stdin.write(json.dumps(order).encode() + b"\n")
            popen.stdin.flush()
        return self._answer(seconds)

    def _answer(self, seconds: float) -> dict[str, Any]:
        popen = self._process.popen
        assert popen.stdout is not None, "it is started with pipes"
        if not select.select([popen.stdout], [], [], seconds)[0]:
            raise StageTrouble(
                f"{self._process.instance} did not answer in {seconds:g} s; last log lines: "
                f"{self.tail()}"
            )
        line = popen.stdout.readline()
        if not line:
            raise StageTrouble(f"{self._process.instance} ended; last log lines: {self.tail()}")
        found: dict[str, Any] = json.loads(line)
        return found

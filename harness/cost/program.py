"""A program that answers each order, a line of JSON, with a line of JSON."""

from __future__ import annotations

import json
import select
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import psutil

from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.processes.trouble import StageTrouble

_START_SECONDS: Final = 90.0


class AnsweringProgram:
    """A running program."""

    def __init__(self, processes: Processes, name: str, command: Sequence[str | Path]) -> None:
        """Start it, and wait until it is ready.

        Raises:
            StageTrouble: it ended, or is not ready in time.
        """
        self._process: Process = processes.start(name, list(command), pipes=True)
        self._answer(_START_SECONDS)

    def ask(self, order: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Return the answer to an order; raise `StageTrouble` without one in time."""
        popen = self._process.popen
        assert popen.stdin is not None, "it is started with pipes"
        with suppress(BrokenPipeError):  # it has ended, and will not answer
            popen.stdin.write(json.dumps(order).encode() + b"\n")
            popen.stdin.flush()
        return self._answer(seconds)

    def processor_seconds(self) -> float:
        try:
            times = psutil.Process(self._process.popen.pid).cpu_times()
        except psutil.Error:
            raise StageTrouble(f"{self._process.instance} ended: {self._process.tail()}") from None
        return float(times.user + times.system)

    def end(self) -> None:
        self._process.kill("no longer needed")

    def _answer(self, seconds: float) -> dict[str, Any]:
        popen = self._process.popen
        assert popen.stdout is not None, "it is started with pipes"
        if not select.select([popen.stdout], [], [], seconds)[0]:
            raise StageTrouble(
                f"{self._process.instance} did not answer in {seconds:g} s; last log lines: "
                f"{self._process.tail()}"
            )
        line = popen.stdout.readline()
        if not line:
            raise StageTrouble(
                f"{self._process.instance} ended; last log lines: {self._process.tail()}"
            )
        found: dict[str, Any] = json.loads(line)
        return found

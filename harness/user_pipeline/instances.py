"""Run several instances of a user's program, and restart each when it ends, as a deployment does.

    python -m onceproof.harness.user_pipeline.instances 3 PROGRAM --id {instance} …

On SIGTERM, or if an instance fails repeatedly, terminate all of them and end.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Final

from onceproof.harness.processes.python import python_module

PLACEHOLDER: Final = "{instance}"
"""Replaced in the command by the number of the instance, from 0."""
_RESTART_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 0.5
_FAILED_START_SECONDS: Final = 10.0
"""A failure sooner after the start counts as a failed start."""
_MAX_FAILED_STARTS: Final = 5
"""Maximum number of failed starts in a row."""


def several(count: int, command: Sequence[str]) -> list[str]:
    """Return the command that runs so many instances of a command."""
    return python_module("onceproof.harness.user_pipeline.instances", str(count), *command)


class Instances:
    """The instances of one command."""

    def __init__(self, count: int, command: Sequence[str]) -> None:
        self._count, self._command = count, tuple(command)
        self._ending = threading.Event()
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._code = 0

    def run(self) -> int:
        """Keep all instances running; return 0, or the exit code of one that fails repeatedly."""
        threads = [
            threading.Thread(target=self._keep_running, args=(n,)) for n in range(self._count)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            # Python calls `end` in this thread, which a signal to another one does not wake.
            while thread.is_alive():
                thread.join(_LOOK_SECONDS)
        return self._code

    def end(self, *_: object) -> None:
        self._ending.set()
        for process in tuple(self._running.values()):
            process.terminate()

    def _keep_running(self, number: int) -> None:
        fails = 0
        while not self._ending.is_set():
            began = time.monotonic()
            code = self._run_once(number)
            fails = fails + 1 if code and time.monotonic() - began < _FAILED_START_SECONDS else 0
            if fails == _MAX_FAILED_STARTS and not self._ending.is_set():
                self._code = code if code > 0 else 1
                self.end()
            self._ending.wait(_RESTART_SECONDS)

    def _run_once(self, number: int) -> int:
        command = [part.replace(PLACEHOLDER, str(number)) for part in self._command]
        try:
            process = subprocess.Popen(command)
        except OSError as error:
            sys.stderr.write(f"{command[0]} cannot be started: {error.strerror}\n")
            return 127
        self._running[number] = process
        if self._ending.is_set():  # started after `end` had terminated the others
            process.terminate()
        return process.wait()


def main(arguments: Sequence[str]) -> int:
    instances = Instances(int(arguments[0]), arguments[1:])
    signal.signal(signal.SIGTERM, instances.end)
    return instances.run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Several instances of a user's program, each started again when it ends, as a deployment does it.

    python -m onceproof.harness.user_pipeline.instances 3 PROGRAM --id {instance} …

It ends when it is asked to, once all instances have ended, or when one of them fails over and over.
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
"""What of the command each instance gets its own number for, from 0."""
_AGAIN_SECONDS: Final = 1.0
_SOON_SECONDS: Final = 10.0
"""An instance that fails sooner after its start has failed to start."""
_FAILS: Final = 5
"""How often in a row one may fail to start."""


def several(count: int, command: Sequence[str]) -> list[str]:
    """The command that runs so many instances of a command."""
    return python_module("onceproof.harness.user_pipeline.instances", str(count), *command)


class Instances:
    """The instances of one command."""

    def __init__(self, count: int, command: Sequence[str]) -> None:
        self._count, self._command = count, tuple(command)
        self._ending = threading.Event()
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._code = 0

    def run(self) -> int:
        """Keep them running; returns 0, or the exit code of one that fails over and over."""
        threads = [threading.Thread(target=self._keep, args=(n,)) for n in range(self._count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self._code

    def end(self, *_: object) -> None:
        """Ask all of them to end, and start none again."""
        self._ending.set()
        for process in tuple(self._running.values()):
            process.terminate()

    def _keep(self, number: int) -> None:
        fails = 0
        while not self._ending.is_set():
            began = time.monotonic()
            code = self._live(number)
            fails = fails + 1 if code and time.monotonic() - began < _SOON_SECONDS else 0
            if fails == _FAILS and not self._ending.is_set():
                self._code = code if code > 0 else 1
                self.end()
            self._ending.wait(_AGAIN_SECONDS)

    def _live(self, number: int) -> int:
        command = [part.replace(PLACEHOLDER, str(number)) for part in self._command]
        try:
            process = subprocess.Popen(command)
        except OSError as error:
            sys.stderr.write(f"{command[0]} cannot be started: {error.strerror}\n")
            return 127
        self._running[number] = process
        if self._ending.is_set():  # it came too late to be asked
            process.terminate()
        return process.wait()


def main(arguments: Sequence[str]) -> int:
    """The command line."""
    instances = Instances(int(arguments[0]), arguments[1:])
    signal.signal(signal.SIGTERM, instances.end)
    return instances.run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

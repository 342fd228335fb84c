"""Stand in for a service that only commands control, such as a systemd unit or a container.

    python -m onceproof.harness.user_pipeline.deployed STOP START…

runs the start command, waits for SIGTERM, then runs the stop command. The harness supervises this
process like any other program. Killing the service takes another command, because SIGKILL cannot
be caught: see `kill_command.py`.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Final

from onceproof.harness.processes.python import python_module

_NOT_FOUND: Final = 127


def deployed(start: Sequence[str], stop: Sequence[str]) -> list[str]:
    """Return the command of the process that stands in for the service."""
    return python_module("onceproof.harness.user_pipeline.deployed", json.dumps(list(stop)), *start)


def main(arguments: Sequence[str]) -> int:
    stop, start = json.loads(arguments[0]), arguments[1:]
    asked = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: asked.set())
    if code := _ended_with(start):
        return code
    asked.wait()
    return _ended_with(stop)


def _ended_with(command: Sequence[str]) -> int:
    try:
        return subprocess.run(command, check=False).returncode
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be started: {error.strerror}\n")
        return _NOT_FOUND


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

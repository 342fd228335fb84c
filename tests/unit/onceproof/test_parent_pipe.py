"""A run stops when the program that started it ends."""

from __future__ import annotations

import subprocess
import sys

from onceproof.parent_pipe import parent_pipe

RUN = """
import os
from onceproof.harness.wait import Interrupted, Stop
from onceproof.parent_pipe import stop_with_parent

stop = Stop()
stop_with_parent(stop)
print("ONCEPROOF_PARENT_PIPE" in os.environ, flush=True)
try:
    stop.pause(SECONDS)
    print("went on")
except Interrupted as reason:
    print(reason)
"""


def run_command(seconds: float) -> list[str]:
    return [sys.executable, "-c", RUN.replace("SECONDS", str(seconds))]


def test_run_stops_when_parent_ends() -> None:
    with parent_pipe() as (reading, environ):
        process = subprocess.Popen(
            run_command(600), stdin=reading, env=environ, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "False\n", "what it starts has no part in the pipe"
    assert process.communicate(timeout=60)[0] == "the program that started the run has ended\n"


def test_run_without_parent_pipe_continues() -> None:
    done = subprocess.run(
        run_command(0.2), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\nwent on\n"

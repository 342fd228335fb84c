"""What a program holds ends with it, however it goes."""

from __future__ import annotations

import subprocess
import sys

from onceproof.holding import held

HELD = """
import os
from onceproof.harness.wait import Interrupted, Stop
from onceproof.holding import end_when_let_go

stop = Stop()
end_when_let_go(stop)
print("ONCEPROOF_HELD" in os.environ, flush=True)
try:
    stop.pause(SECONDS)
    print("went on")
except Interrupted as reason:
    print(reason)
"""


def run(seconds: float) -> list[str]:
    return [sys.executable, "-c", HELD.replace("SECONDS", str(seconds))]


def test_it_is_asked_to_stop_when_nobody_holds_it() -> None:
    with held() as (reading, environ):
        process = subprocess.Popen(
            run(600), stdin=reading, env=environ, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "False\n", "what it starts is not held"
    assert process.communicate(timeout=60)[0] == "the program that started the run has ended\n"


def test_who_is_not_held_goes_on() -> None:
    done = subprocess.run(
        run(0.2), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\nwent on\n"

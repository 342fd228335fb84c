"""Signals that stop a run are reported, whatever they interrupt."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

_INTERRUPTED = """
import signal, sys
from onceproof.cli.outputs import outlive_readers
from onceproof.stopping import stop_on_signals

class Raising:
    # Standard error's own file, whose writes a signal interrupts.
    def __init__(self, raw, number):
        self.raw, self.numbers = raw, [number]
    def write(self, data):
        if self.numbers:
            signal.raise_signal(self.numbers.pop())
        return self.raw.write(data)

# Under nohup it is ignored, and so it stays; here it is to be heard.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
outlive_readers()
stop = stop_on_signals()
under_way = stop.in_order()
under_way.__enter__()
raw = sys.stderr.buffer.raw
raw.write = Raising(super(type(raw), raw), signal.Signals[sys.argv[1]]).write
print("a line of progress", file=sys.stderr)
print(f"asked to stop: {stop.is_set()}, {stop.reason}", file=sys.stderr)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signal_during_progress_output_stops_the_run(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED, name], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [
        f"onceproof: {name}: stopping the run and everything it started",
        "a line of progress",
        f"asked to stop: True, {name} received",
    ]


def test_second_signal_exits_at_once() -> None:
    program = (
        "import signal; from onceproof.stopping import stop_on_signals; "
        "under_way = stop_on_signals().in_order(); under_way.__enter__(); "
        "signal.raise_signal(signal.SIGINT); signal.raise_signal(signal.SIGINT)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGINT
    assert done.stderr.endswith("onceproof: SIGINT again: exiting at once; the reaper cleans up\n")

"""Signals that end what runs in an orderly way."""

from __future__ import annotations

import signal
import sys
from types import FrameType

from harness.wait import Stop
from onceproof.interrupts import hear


def stop_on_signals() -> Stop:
    """The first signal ends the run in an orderly way; a second one leaves it to the reaper."""
    stop = Stop()

    def on_signal(number: int, _: FrameType | None) -> None:
        name = signal.Signals(number).name
        if stop.is_set():
            print(f"onceproof: {name} again: leaving the rest to the reaper", file=sys.stderr)
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        stop.set(f"{name} received")
        print(f"onceproof: {name}: ending the run and everything it started", file=sys.stderr)

    hear(on_signal)
    return stop

"""Signals that end what runs in an orderly way."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType

from onceproof.harness.wait import Stop
from onceproof.interrupts import hear
from onceproof.parent_pipe import stop_with_parent


def stop_on_signals() -> Stop:
    """The first signal ends the run in an orderly way; a second one leaves it to the reaper.

    Where nothing is under way that has to end in order, as while a run is being judged, a signal
    is a `KeyboardInterrupt`. The end of the program that started the run, where that made a
    `parent_pipe`, is the same as a first signal.
    """
    stop = Stop()

    def on_signal(number: int, _: FrameType | None) -> None:
        name = signal.Signals(number).name
        if not stop.heeded:
            raise KeyboardInterrupt
        if stop.is_set():
            _say(f"{name} again: leaving the rest to the reaper")
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        stop.set(f"{name} received")
        _say(f"{name}: ending the run and everything it started")

    hear(on_signal)
    stop_with_parent(stop)
    return stop


def _say(what: str) -> None:
    # Past every buffer: what the signal has interrupted may be just about to print, and a stream
    # refuses who comes back to it from within. The terminal may be gone, which is what SIGHUP says.
    with suppress(OSError, ValueError, AttributeError):
        os.write(sys.stderr.fileno(), f"onceproof: {what}\n".encode())

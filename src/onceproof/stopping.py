"""Shut down a run in order on a signal."""

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
    """Return a `Stop` that the first signal sets; on a second signal this process dies at once.

    The reaper then cleans up. While nothing needs an orderly shutdown, as during judging, a signal
    raises `KeyboardInterrupt`. If the parent program used `parent_pipe`, its end counts as a first
    signal.
    """
    stop = Stop()

    def on_signal(number: int, _: FrameType | None) -> None:
        name = signal.Signals(number).name
        if not stop.heeded:
            raise KeyboardInterrupt
        if stop.is_set():
            _write(f"{name} again: exiting at once; the reaper cleans up")
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        stop.set(f"{name} received")
        _write(f"{name}: stopping the run and everything it started")

    hear(on_signal)
    stop_with_parent(stop)
    return stop


def _write(message: str) -> None:
    # Unbuffered: the signal may have interrupted a print, and streams are not reentrant. On SIGHUP
    # the terminal is gone.
    with suppress(OSError, ValueError, AttributeError):
        os.write(sys.stderr.fileno(), f"onceproof: {message}\n".encode())

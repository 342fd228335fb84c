"""A run that is held by the program that started it, and ends with it.

The one thing to know: what holds it is a pipe on its standard input, of which the program has the
other end. The kernel closes that whatever becomes of the program, so that no run outlives a test
that was killed.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from onceproof.harness.wait import Stop

_HELD: Final = "ONCEPROOF_HELD"
_GONE: Final = "the program that started the run has ended"


@contextmanager
def held(environ: Mapping[str, str] = os.environ) -> Iterator[tuple[int, dict[str, str]]]:
    """For as long as it lasts, a standard input and an environment that hold what is started."""
    reading, writing = os.pipe()
    try:
        yield reading, {**environ, _HELD: "1"}
    finally:
        os.close(reading)
        os.close(writing)


def end_when_let_go(stop: Stop) -> None:
    """Ask a run to stop as soon as nobody holds it any more; who is not held goes on."""
    # What we start is not held, and must not read what we do.
    if os.environ.pop(_HELD, None):
        threading.Thread(target=_watch, args=(stop,), daemon=True).start()


def wait_let_go() -> None:
    """Return when our standard input is closed."""
    while os.read(sys.stdin.fileno(), 4096):
        """What is written there means nothing."""


def _watch(stop: Stop) -> None:
    wait_let_go()
    stop.set(_GONE)

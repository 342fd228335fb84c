"""Signals that break off what needs no orderly end: a sentence, exit code 130, nothing left.

A run of a pipeline is ended in an orderly way instead, see `onceproof.stopping`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

INTERRUPTED = 130

Handler = Callable[[int, FrameType | None], None]


class BrokenOff(KeyboardInterrupt):
    """A signal broke something off; the text says what, and what to do next."""


def hear(handler: Handler) -> None:
    """Let a handler hear Ctrl-C, SIGTERM and SIGHUP.

    A shell ignores SIGINT for what it starts in the background, which means the keyboard's only;
    who ignores SIGHUP (`nohup`) means it.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


@contextmanager
def interruptible() -> Iterator[None]:
    """For a whole command: Ctrl-C, SIGTERM and SIGHUP end it with 130 and a sentence."""
    hear(signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt as error:
        print(interruption(error), file=sys.stderr)
    except SystemExit as leaving:
        if leaving.code != INTERRUPTED:
            raise
    else:
        return
    sys.stdout.flush()
    sys.stderr.flush()
    # All that was open is closed by now. An orderly end of the interpreter would wait for threads,
    # and let DuckDB's binding tell of what an interrupted query has left in it.
    os._exit(INTERRUPTED)


@contextmanager
def breaking_off(doing: str) -> Iterator[None]:
    """Say what an interrupt broke off.

    Args:
        doing: what, and what to do next: «judging X; nothing was written. …».

    Raises:
        BrokenOff: it was interrupted.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise BrokenOff(f"interrupted while {doing}") from None


def judging(folder: Path) -> str:
    """What is broken off when a run folder is being judged."""
    return f"judging {folder}; its history is as it was: `onceproof check {folder}` judges it."


def interruption(error: KeyboardInterrupt | None = None) -> str:
    """An interrupt in a line."""
    return f"onceproof: {error}" if error and str(error) else "onceproof: interrupted"

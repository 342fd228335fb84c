"""End a command on a signal: print a sentence, exit with 130. For runs see `onceproof.stopping`."""

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


class OperationInterrupted(KeyboardInterrupt):
    """A signal interrupted an operation; the message says which, and what to do next."""


def hear(handler: Handler) -> None:
    """Install a handler for Ctrl-C, SIGTERM and SIGHUP.

    An ignored SIGINT is handled all the same: shells ignore it for background jobs only because of
    the keyboard. An ignored SIGHUP stays ignored, as the user asked (`nohup`).
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


@contextmanager
def interruptible() -> Iterator[None]:
    """Run a whole command; on Ctrl-C, SIGTERM or SIGHUP print a sentence and exit with 130."""
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
    # Everything is closed already. A normal exit would wait for threads, and DuckDB's binding would
    # print what an interrupted query left behind.
    os._exit(INTERRUPTED)


@contextmanager
def breaking_off(doing: str) -> Iterator[None]:
    """Turn an interrupt in the block into `OperationInterrupted`.

    `doing` names the operation, and what to do next: «judging X; nothing was written. …».
    """
    try:
        yield
    except KeyboardInterrupt:
        raise OperationInterrupted(f"interrupted while {doing}") from None


def judging(folder: Path) -> str:
    """Return the text for `breaking_off` while a run folder is judged."""
    return f"judging {folder}; its history is unchanged: `onceproof check {folder}` judges it."


def interruption(error: KeyboardInterrupt | None = None) -> str:
    return f"onceproof: {error}" if error and str(error) else "onceproof: interrupted"

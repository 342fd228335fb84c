"""Signals that break off what changes nothing: one sentence, and everything cleared away.

The one thing to know: what runs a pipeline ends in an orderly way instead, see
`onceproof.stopping`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130

Handler = Callable[[int, FrameType | None], None]


def hear(handler: Handler) -> None:
    """Let a handler hear Ctrl-C, SIGTERM and SIGHUP.

    A shell ignores SIGINT for what it starts in the background, which means the keyboard's only;
    who ignores SIGHUP (`nohup`) means it.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


@contextmanager
def breaking_off(doing: str) -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP leave with 130 and say what was broken off.

    Args:
        doing: what, and what to do next: «judging X; nothing was written. …».
    """
    hear(signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        print(f"onceproof: interrupted while {doing}", file=sys.stderr, flush=True)
        sys.stdout.flush()
        # All that was open is closed by now. An orderly end of the interpreter would only let
        # DuckDB's binding tell of what an interrupted query has left in it.
        os._exit(INTERRUPTED)

"""Signals that break off what changes nothing: one sentence, and everything cleared away.

The one thing to know: what runs a pipeline ends in an orderly way instead, see
`onceproof.stopping`.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTED = 130


@contextmanager
def breaking_off(doing: str) -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP leave with 130 and say what was broken off.

    Args:
        doing: what, and what to do next: «judging X; nothing was written. …».
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        print(f"onceproof: interrupted while {doing}", file=sys.stderr)
        sys.exit(INTERRUPTED)

"""Wait for a state with a deadline, and raise an error that says what was seen last.

This project does not sleep: every wait names its state and its deadline.
"""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

T = TypeVar("T")


class Overdue(Exception):
    """A state was not reached in time; the text says what was seen last."""


class Interrupted(BaseException):
    """The run was asked to stop (Ctrl-C, SIGTERM): every wait ends with this.

    Not an `Exception`, so that no handler of ordinary errors swallows it.
    """


class Stop:
    """A flag that ends every wait of one run, and the clock of these waits."""

    def __init__(self) -> None:
        self._asked = False
        self._in_order = 0
        self._event = threading.Event()
        self.reason = "interrupted"

    def set(self, reason: str) -> None:
        """End every wait; the first reason is kept. Safe to call from a signal handler."""
        if not self._asked:
            self.reason = reason
            self._asked = True
            # `pause` briefly holds the event's lock. A signal handler that interrupts it then
            # would wait forever for the code that it interrupted, so another thread sets it.
            with suppress(RuntimeError):  # no thread available: a pause ends by itself
                _thread.start_new_thread(self._event.set, ())

    @contextmanager
    def in_order(self) -> Iterator[None]:
        """Mark a block that a signal must not break off, because it ends in order when asked."""
        self._in_order += 1
        try:
            yield
        finally:
            self._in_order -= 1

    @property
    def heeded(self) -> bool:
        """Whether an `in_order` block is running."""
        return self._in_order > 0

    def is_set(self) -> bool:
        return self._asked

    def check(self) -> None:
        """Raise `Interrupted` if the flag is set."""
        if self._asked:
            raise Interrupted(self.reason)

    def monotonic(self) -> float:
        return time.monotonic()

    def pause(self, seconds: float) -> None:
        """Wait for `seconds`; raise `Interrupted` as soon as the flag is set."""
        self.check()
        self._event.wait(seconds)
        self.check()


def wait_until(
    look: Callable[[], T | None],
    *,
    what: str,
    seconds: float,
    stop: Stop | None = None,
    every: float = 0.05,
    seen: Callable[[], object] | None = None,
    reached: Callable[[], int] | None = None,
) -> T:
    """Call `look` until it returns a true value, and return that value.

    Args:
        look: returns a false value until the state is reached; its exceptions pass through.
        what: the state, as in "waited 5 s for <what>".
        seconds: deadline; with `reached`, the longest time without progress.
        stop: ends the wait early with `Interrupted`.
        every: seconds between two calls.
        seen: describes the current state, for the error.
        reached: measures progress by a growing number; called rarely.

    Raises:
        Overdue: the deadline passed; the text carries `what` and `seen()`.
        Interrupted: the run was asked to stop.
    """
    stop = stop or Stop()
    deadline = stop.monotonic() + seconds
    progress = reached() if reached else 0
    while True:
        stop.check()
        if found := look():
            return found
        if stop.monotonic() >= deadline:
            before, progress = progress, reached() if reached else progress
            if progress > before:
                deadline = stop.monotonic() + seconds
                continue
            last = f"; last seen: {seen()}" if seen else ""
            raise Overdue(f"waited {seconds:g} s for {what}{last}")
        stop.pause(every)

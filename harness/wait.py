"""Waiting for a state, with a deadline and an error that says what was seen last.

There are no sleeps in this project. Whoever waits says what for, for how
long, and how to describe what is there instead.
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
    """A state was not reached within its deadline; the text says what was seen last."""


class Interrupted(BaseException):
    """The run was asked to stop (Ctrl-C, SIGTERM): every wait ends with this.

    Not an `Exception`, so that no handler of ordinary errors swallows it.
    """


class Stop:
    """A flag that ends every wait of one run, and the clock that these waits go by."""

    def __init__(self) -> None:
        self._asked = False
        self._in_order = 0
        self._event = threading.Event()
        self.reason = "interrupted"

    def set(self, reason: str) -> None:
        """Ask every wait to end; the first reason stays. A signal handler may do it."""
        if not self._asked:
            self.reason = reason
            self._asked = True
            # Whoever pauses takes the event's lock for a moment; a signal that came just then
            # would wait for ever for what it has interrupted.
            with suppress(RuntimeError):  # no room for a thread: a pause ends by itself
                _thread.start_new_thread(self._event.set, ())

    @contextmanager
    def in_order(self) -> Iterator[None]:
        """What is begun in here ends in order: a signal asks it to, and breaks nothing off."""
        self._in_order += 1
        try:
            yield
        finally:
            self._in_order -= 1

    @property
    def heeded(self) -> bool:
        """Whether something is under way that ends in order when asked."""
        return self._in_order > 0

    def is_set(self) -> bool:
        return self._asked

    def check(self) -> None:
        """Raise `Interrupted` if the run was asked to stop."""
        if self._asked:
            raise Interrupted(self.reason)

    def monotonic(self) -> float:
        """Seconds by a clock that never goes back."""
        return time.monotonic()

    def pause(self, seconds: float) -> None:
        """Let `seconds` pass between two looks; raises `Interrupted` as soon as asked to stop."""
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
    """Look until `look()` returns something true, and return that.

    Args:
        look: returns a false value while the state is not there; its exceptions pass through.
        what: the state, as in "waited 5 s for <what>".
        seconds: deadline, or how long it may go on without getting further if `reached` is given.
        stop: ends the wait early with `Interrupted`.
        every: seconds between two looks.
        seen: describes what is there instead, for the error.
        reached: how far it has got, up to some end; called rarely.

    Raises:
        Overdue: the deadline passed; the text carries `what` and `seen()`.
        Interrupted: the run was asked to stop.
    """
    stop = stop or Stop()
    deadline = stop.monotonic() + seconds
    far = reached() if reached else 0
    while True:
        stop.check()
        if found := look():
            return found
        if stop.monotonic() >= deadline:
            before, far = far, reached() if reached else far
            if far > before:
                deadline = stop.monotonic() + seconds
                continue
            last = f"; last seen: {seen()}" if seen else ""
            raise Overdue(f"waited {seconds:g} s for {what}{last}")
        stop.pause(every)

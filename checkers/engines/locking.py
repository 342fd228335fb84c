"""Questions beside each other, and one alone.

What two questions hold at the same time may be more than they are allowed
to, where each by itself would spill to disk. So one that found too little memory is asked once
more, when nothing else is at work.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """Many at a time, or one alone."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._beside = 0
        self._alone = False

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Work while others may."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._beside += 1
        try:
            yield
        finally:
            with self._changed:
                self._beside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let nobody begin, wait until nobody is at work, and work."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._alone = True
            self._changed.wait_for(lambda: self._beside == 0)
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()

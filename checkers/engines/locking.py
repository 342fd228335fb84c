"""A lock for queries: many at a time, or one alone.

Queries that run together may exceed the memory limit although each alone would spill to disk. So a
query that ran out of memory is repeated alone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class SharedLock:
    """Many at a time, or one alone."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._sharers = 0
        self._exclusive = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Run together with others."""
        with self._changed:
            self._changed.wait_for(lambda: not self._exclusive)
            self._sharers += 1
        try:
            yield
        finally:
            with self._changed:
                self._sharers -= 1
                self._changed.notify_all()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Block new work, wait until none is running, and run."""
        with self._changed:
            self._changed.wait_for(lambda: not self._exclusive)
            self._exclusive = True
            self._changed.wait_for(lambda: self._sharers == 0)
        try:
            yield
        finally:
            with self._changed:
                self._exclusive = False
                self._changed.notify_all()

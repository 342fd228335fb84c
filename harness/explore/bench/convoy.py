"""A convoy: trials in which the same broker fails, each with its own message on the way to it.

All clients are held at their messages until the last one is there. Then the broker fails once for
all of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

_SECONDS: Final = 12.0
"""How long the first client waits for the others."""


class Convoy:
    """The clients of a convoy meet here. Thread-safe."""

    def __init__(self, count: int, broker: str, fail: Callable[[], None]) -> None:
        """`fail` lets the broker fail; `count` clients are under way."""
        self.broker = broker
        self._fail = fail
        self._coming = count
        self._changed = threading.Condition()
        self._failed = False
        self._error: Exception | None = None

    def arrive(self, target: str) -> str | None:
        """Wait until the broker has failed; return why a message to `target` misses, if it does.

        Raises:
            Exception: the broker could not be made to fail.
        """
        with self._changed:
            if target != self.broker:
                self._leave()
                return f"its message went to {target}, not to {self.broker}, which fails"
            if self._failed:
                return f"{self.broker} had failed before its message"
            self._leave()
            self._changed.wait_for(lambda: not self._coming or self._failed, _SECONDS)
            if not self._failed:
                self._failed = True
                try:
                    self._fail()
                except Exception as error:
                    self._error = error
                self._changed.notify_all()
            if self._error is not None:
                raise self._error
        return None

    def leave(self) -> None:
        """Go on without the others, because the message did not come."""
        with self._changed:
            self._leave()

    def _leave(self) -> None:
        self._coming -= 1
        self._changed.notify_all()

"""The lines that a page follows: every event of a run, and its latest state.

The events are those of `--json-events`. The state, `{"event": "state", …}`, is not kept: a page
that comes later gets all events and only the latest state.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from onceproof.reports.event_lines.model import Line, Progress

_LONGEST: Final = 50_000
"""Maximum number of events that are kept; the oldest are forgotten first."""


class Feed:
    """Collects lines, and hands them to every page. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: list[str] = []
        self._forgotten = 0
        self._state = ""
        self._states = 0
        self._closed = False
        self._readers: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    def write(self, line: Line) -> None:
        """Add an event. Progress is part of the state, and left out."""
        if isinstance(line, Progress):
            return
        with self._lock:
            self._lines.append(line.model_dump_json(by_alias=True))
            if len(self._lines) > _LONGEST:
                del self._lines[0]
                self._forgotten += 1
            self._wake()

    def show(self, state: Mapping[str, Any]) -> None:
        """Replace the state."""
        with self._lock:
            self._state = json.dumps({"event": "state", "now": time.monotonic(), **state})
            self._states += 1
            self._wake()

    def forget_state(self) -> None:
        """Show pages that come later no state, until there is a new one."""
        with self._lock:
            self._state = ""

    def close(self) -> None:
        """End every page's stream after the lines so far."""
        with self._lock:
            self._closed = True
            self._wake()

    @property
    def readers(self) -> int:
        """How many pages follow now."""
        return len(self._readers)

    async def follow(self) -> AsyncIterator[str]:
        """Yield all lines so far, then each new one, until `close`."""
        changed = asyncio.Event()
        with self._lock:
            self._readers[changed] = asyncio.get_running_loop()
        read, seen = 0, 0
        try:
            while True:
                with self._lock:
                    changed.clear()
                    lines = self._lines[max(read - self._forgotten, 0) :]
                    read = self._forgotten + len(self._lines)
                    if self._state and self._states != seen:
                        lines, seen = [*lines, self._state], self._states
                    closed = self._closed
                if lines:
                    yield "\n".join(lines) + "\n"
                if closed:
                    return
                await changed.wait()
        finally:
            with self._lock:
                del self._readers[changed]
                if not self._readers:
                    self._state = ""  # it is looked at for readers only, so it would be old

    def _wake(self) -> None:
        for changed, loop in self._readers.items():
            loop.call_soon_threadsafe(changed.set)

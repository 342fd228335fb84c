"""Write to a socket in order: everything after a held frame waits too, as on a slow link."""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(eq=False)
class HeldFrame:
    """A frame that is written only once it is released."""

    data: memoryview
    correlation_id: int
    over: Callable[[bool], None] = lambda _: None
    """Called with True when it was written, with False when it never will be."""
    released: bool = False
    lost: bool = False
    """Whether it and everything after it is discarded."""
    answered: bool = False
    """Whether the gate has answered in its place, so that it is not written."""
    drop: Callable[[], None] = lambda: None
    """Decide that it is lost, with everything after it in its direction."""
    refusal: Callable[[int], Callable[[], None]] = lambda _: lambda: None
    """Return what decides that its client gets this error code; raise `ValueError` if none can
    be sent."""


@dataclass(eq=False)
class DiscardRest:
    """Discard everything after this, and keep the connection open."""


@dataclass(eq=False)
class End:
    """Write nothing after this."""

    reached: Callable[[], None]


Item = memoryview | bytes | HeldFrame | DiscardRest | End


class Outlet:
    """Write items as fast as the socket accepts them; discard them if it is closed."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, sink: socket.socket, drained: Callable[[], None]
    ) -> None:
        """Create an outlet; until it calls `drained`, it uses views of the inlet's buffer."""
        self._loop = loop
        self._sink: socket.socket | None = sink
        self._drained = drained
        self._items: deque[Item] = deque()
        self._full = False

    @property
    def empty(self) -> bool:
        return not self._items

    def put(self, items: Sequence[Item]) -> None:
        self._items.extend(items)
        self.go_on()

    def give_up(self) -> None:
        """Discard all present and future items: the socket is closed or about to be."""
        if self._sink is not None and self._full:
            self._loop.remove_writer(self._sink)
        self._sink, self._full = None, False
        self.go_on()

    def go_on(self) -> None:
        """Write as much as possible; call this when a frame was released."""
        if self._full or not self._items:
            return
        while self._items:
            item = self._items[0]
            if isinstance(item, End):
                self._end(item)
                return
            if isinstance(item, DiscardRest):
                self._sink = None
                self._items.popleft()
                continue
            if isinstance(item, HeldFrame) and not item.released and self._sink is not None:
                return
            if isinstance(item, HeldFrame) and (item.lost or item.answered):
                self._sink = None if item.lost else self._sink
                self._items.popleft()
                item.over(False)
                continue
            left = self._write(item.data if isinstance(item, HeldFrame) else item)
            if left is not None:
                self._keep_rest(item, left)
                return
            self._items.popleft()
            if isinstance(item, HeldFrame):
                item.over(self._sink is not None)
        self._drained()

    def _end(self, end: End) -> None:
        lost = [item for item in self._items if isinstance(item, HeldFrame)]
        self._items.clear()
        for item in lost:
            item.over(False)
        end.reached()

    def _write(self, data: memoryview | bytes) -> memoryview | None:
        if self._sink is None:
            return None
        try:
            sent = self._sink.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._sink = None
            return None
        return memoryview(data)[sent:] if sent < len(data) else None

    def _keep_rest(self, item: memoryview | bytes | HeldFrame, left: memoryview) -> None:
        assert self._sink is not None
        if isinstance(item, HeldFrame):
            item.data = left
        else:
            self._items[0] = left
        self._full = True
        self._loop.add_writer(self._sink, self._on_writable)

    def _on_writable(self) -> None:
        assert self._sink is not None
        self._loop.remove_writer(self._sink)
        self._full = False
        self.go_on()

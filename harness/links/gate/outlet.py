"""What is still to be written to a socket, in order: bytes, frames that are held, a loss, an end.

Nothing overtakes. What stands behind a held frame waits as well, as bytes do
on a link that is slow, so the order of everything on a connection is what its rules say.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(eq=False)
class Held:
    """A frame that waits for its release."""

    data: memoryview
    over: Callable[[bool], None]
    """Told that it has gone out (True), or that it never will."""
    released: bool = False


@dataclass(eq=False)
class Lost:
    """Whatever comes after this is swallowed, and the connection stays as it is."""


@dataclass(eq=False)
class End:
    """Nothing that comes after this is written."""

    reached: Callable[[], None]


Item = memoryview | bytes | Held | Lost | End


class Outlet:
    """Writes what it is given, as fast as the socket takes it; throws it away when that is gone."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, sink: socket.socket, drained: Callable[[], None]
    ) -> None:
        """`drained` is called when all is written: until then views of a buffer are in use."""
        self._loop = loop
        self._sink: socket.socket | None = sink
        self._drained = drained
        self._items: deque[Item] = deque()
        self._full = False

    @property
    def empty(self) -> bool:
        """Whether nothing is left to be written."""
        return not self._items

    def put(self, items: Sequence[Item]) -> None:
        """Add items and write what can be written."""
        self._items.extend(items)
        self.go_on()

    def give_up(self) -> None:
        """The socket is gone, or about to go: throw away what is there and what will come."""
        if self._sink is not None and self._full:
            self._loop.remove_writer(self._sink)
        self._sink, self._full = None, False
        self.go_on()

    def go_on(self) -> None:
        """Write what can be written; to be called when a frame was released."""
        if self._full or not self._items:
            return
        while self._items:
            item = self._items[0]
            if isinstance(item, End):
                self._end(item)
                return
            if isinstance(item, Lost):
                self._sink = None
                self._items.popleft()
                continue
            if isinstance(item, Held) and not item.released and self._sink is not None:
                return
            left = self._write(item.data if isinstance(item, Held) else item)
            if left is not None:
                self._keep(item, left)
                return
            self._items.popleft()
            if isinstance(item, Held):
                item.over(self._sink is not None)
        self._drained()

    def _end(self, end: End) -> None:
        lost = [item for item in self._items if isinstance(item, Held)]
        self._items.clear()
        for item in lost:
            item.over(False)
        end.reached()

    def _write(self, data: memoryview | bytes) -> memoryview | None:
        """Write; returns what the socket did not take."""
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

    def _keep(self, item: memoryview | bytes | Held, left: memoryview) -> None:
        """Go on with what is left when the socket has room."""
        assert self._sink is not None
        if isinstance(item, Held):
            item.data = left
        else:
            self._items[0] = left
        self._full = True
        self._loop.add_writer(self._sink, self._room)

    def _room(self) -> None:
        assert self._sink is not None
        self._loop.remove_writer(self._sink)
        self._full = False
        self.go_on()

"""Read from a socket, split into frames, and pass them to an outlet.

The buffer is reused only after the outlet has written all of it. So a slow or held direction exerts
backpressure, like a plain connection. A partial frame header at the end of the stream is discarded.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from typing import Final

from onceproof.harness.links.gate.outlet import Item, Outlet
from onceproof.harness.links.gate.splitter import Splitter

_BUFFER: Final = 256 * 1024


class Inlet:
    """Read one direction of a connection."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        source: socket.socket,
        splitter: Splitter,
        *,
        whole: Callable[[bytes], Sequence[Item]],
        between: Callable[[], Sequence[Item]],
        over: Callable[[], None],
    ) -> None:
        """Create an inlet.

        Args:
            whole: returns what to forward for a whole frame that the splitter gathered.
            between: returns what to insert between two frames.
            over: called at the end of the stream.
        """
        self._loop = loop
        self._source = source
        self._splitter = splitter
        self._whole = whole
        self._between = between
        self._over = over
        self._view = memoryview(bytearray(_BUFFER))
        self._buffered = 0
        self._consumed = 0
        self._reading = False
        self._stopped = False
        self._outlet: Outlet | None = None

    def start(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._read(True)

    def stop(self) -> None:
        self._read(False)
        self._stopped = True

    def fill_in(self) -> None:
        """Insert what must come between two frames, if the stream is between two."""
        if self._outlet is not None and self._splitter.between_frames and (own := self._between()):
            self._outlet.put(own)

    def drained(self) -> None:
        """Reuse the buffer, except for a partial header, after the outlet wrote everything."""
        if self._consumed:
            rest = self._buffered - self._consumed
            self._view[:rest] = self._view[self._consumed : self._buffered]
            self._buffered, self._consumed = rest, 0
        self._read(True)

    def _on_readable(self) -> None:
        assert self._outlet is not None
        try:
            count = self._source.recv_into(self._view[self._buffered :])
        except BlockingIOError:
            return
        except OSError:
            count = 0  # treat a reset like a close
        if not count:
            self.stop()
            self._over()
            return
        self._buffered += count
        items: list[Item] = []
        for piece in self._splitter.cut(self._view[: self._buffered]):
            items.extend([piece] if isinstance(piece, memoryview) else self._whole(piece))
        self._consumed = self._splitter.used
        if self._splitter.between_frames:
            items.extend(self._between())
        if items:
            self._outlet.put(items)
        if not self._outlet.empty:
            self._read(False)
        elif not items:
            self.drained()

    def _read(self, on: bool) -> None:
        if on is self._reading or self._stopped:
            return
        self._reading = on
        if on:
            self._loop.add_reader(self._source, self._on_readable)
        else:
            self._loop.remove_reader(self._source)

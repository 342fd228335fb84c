"""What comes from a socket: read into one buffer, cut into frames, handed to an outlet.

The buffer is read into again only when the outlet has written all of it.
That is what makes a slow or held direction push back, as a plain connection would. A frame of which
only part of the head came before the end is not passed on: nobody could make anything of it.
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
    """Reads one direction of one connection."""

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
        """What is asked of others.

        Args:
            splitter: cuts it.
            whole: what becomes of a frame that was wanted.
            between: what has to come in between two frames.
            over: told that no more will come.
        """
        self._loop = loop
        self._source = source
        self._splitter = splitter
        self._whole = whole
        self._between = between
        self._over = over
        self._view = memoryview(bytearray(_BUFFER))
        self._kept = 0
        self._used = 0
        self._reading = False
        self._stopped = False
        self._outlet: Outlet | None = None

    def start(self, outlet: Outlet) -> None:
        """Read from now on, into an outlet."""
        self._outlet = outlet
        self._read(True)

    def stop(self) -> None:
        self._read(False)
        self._stopped = True

    def fill_in(self) -> None:
        """Put what has to come between two frames, if this is a moment between two."""
        if self._outlet is not None and self._splitter.between_frames and (own := self._between()):
            self._outlet.put(own)

    def drained(self) -> None:
        """The outlet has written everything: the buffer is free again, but for part of a head."""
        if self._used:
            rest = self._kept - self._used
            self._view[:rest] = self._view[self._used : self._kept]
            self._kept, self._used = rest, 0
        self._read(True)

    def _readable(self) -> None:
        assert self._outlet is not None
        try:
            count = self._source.recv_into(self._view[self._kept :])
        except BlockingIOError:
            return
        except OSError:
            count = 0  # a reset ends it like a close
        if not count:
            self.stop()
            self._over()
            return
        self._kept += count
        items: list[Item] = []
        for piece in self._splitter.cut(self._view[: self._kept]):
            items.extend([piece] if isinstance(piece, memoryview) else self._whole(piece))
        self._used = self._splitter.used
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
            self._loop.add_reader(self._source, self._readable)
        else:
            self._loop.remove_reader(self._source)

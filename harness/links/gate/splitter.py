"""A stream of frames, cut into what passes as it is and frames that are wanted whole.

What passes is never copied. A chunk yields views of itself, and only a frame
that somebody wants, by the look of its head, is gathered; so a big frame of no interest costs one
look, however many chunks it takes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Final

Piece = memoryview | bytes
"""What passes, as a view of the chunk; or a whole frame that was wanted."""

_SIZE: Final = struct.Struct(">i")
_FOREVER: Final = 1 << 62


class Splitter:
    """One direction of one connection.

    `wanted(chunk, at)` is asked once for every frame, as soon as its first `head` bytes are in
    the chunk. `strange(size)` is told when a frame cannot be one of Kafka's; what follows passes.
    """

    def __init__(
        self,
        *,
        head: int,
        wanted: Callable[[memoryview, int], bool],
        strange: Callable[[int], None],
    ) -> None:
        self._head = head
        self._wanted = wanted
        self._strange = strange
        self._left = 0
        self._frame: bytearray | None = None
        self.used = 0
        """How much of the last chunk its pieces account for."""

    @property
    def between_frames(self) -> bool:
        """Whether all that was handed on so far is whole frames."""
        return self._left == 0

    def cut(self, chunk: memoryview) -> Iterator[Piece]:
        """Cut a chunk into pieces, each before the next frame is looked at.

        What was not `used` then is the beginning of a head: it must come again with the next chunk.
        """
        end = len(chunk)
        at = start = 0
        while at < end:
            if self._left:
                take = min(self._left, end - at)
                self._left -= take
                if self._frame is None:
                    at += take
                    continue
                self._frame += chunk[at : at + take]
                at += take
                start = at
                if not self._left:
                    whole, self._frame = bytes(self._frame), None
                    yield whole
                continue
            if end - at < self._head:
                break
            (size,) = _SIZE.unpack_from(chunk, at)
            self._left = _SIZE.size + size
            if self._left < self._head:
                self._strange(size)
                self._left = _FOREVER
            elif self._wanted(chunk, at):
                if at > start:
                    yield chunk[start:at]
                start = at
                self._frame = bytearray()
        self.used = at
        if at > start:
            yield chunk[start:at]

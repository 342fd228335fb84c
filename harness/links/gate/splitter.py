"""Split a stream into bytes to pass through and frames that are needed whole.

Passed bytes are not copied: they are views of the chunk. Only a frame that is wanted by its header
is gathered, so that a large unwanted frame costs one check, however many chunks it spans.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Final

Piece = memoryview | bytes
"""Bytes to pass, as a view of the chunk; or a whole frame that was wanted."""

_SIZE: Final = struct.Struct(">i")
_FOREVER: Final = 1 << 62


class Splitter:
    """Split one direction of a connection.

    `wanted(chunk, at)` is called once for every frame, as soon as its first `head` bytes are in the
    chunk. `strange(size)` is called if a frame is not valid in Kafka; everything after it passes.
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
        """Bytes of the last chunk that its pieces cover."""

    @property
    def between_frames(self) -> bool:
        """Whether the stream so far ends with a whole frame."""
        return self._left == 0

    def cut(self, chunk: memoryview) -> Iterator[Piece]:
        """Yield the pieces of a chunk, each before the next frame is examined.

        Bytes beyond `used` are a partial header: they must begin the next chunk.
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

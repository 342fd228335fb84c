"""Frames in a stream, whatever chunks it comes in; against an oracle that is slow and obvious."""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.links.gate.splitter import Splitter

HEAD = 8
WANTED = 7

frames = st.lists(
    st.tuples(st.sampled_from([1, WANTED]), st.binary(max_size=40)).map(
        lambda f: struct.pack(">ii", 4 + len(f[1]), f[0]) + f[1]
    ),
    max_size=8,
)
tails = st.one_of(
    st.just(b""),
    st.binary(max_size=HEAD - 1).map(lambda b: b"\0\0\0\x20"[: len(b)] + b[4:]),
    st.binary(max_size=30).map(lambda b: struct.pack(">ii", 40, WANTED) + b),
    st.binary(max_size=30).map(lambda b: struct.pack(">ii", 40, 1) + b),
    st.binary(max_size=30).map(lambda b: b"\0\0\0\x03strange" + b),
    st.binary(max_size=30).map(lambda b: b"\xff\xff\xff\xffstrange" + b),
)


def oracle(stream: bytes) -> tuple[list[bytes], bytes, list[int]]:
    """What happens to a stream: wanted frames apart, all that passes together, what was strange."""
    whole, passed, looked = [], b"", []
    while len(stream) >= HEAD:
        size, key = struct.unpack_from(">ii", stream)
        if size < 4:
            return whole, passed + stream, looked
        looked.append(key)
        frame, stream = stream[: 4 + size], stream[4 + size :]
        if key != WANTED:
            passed += frame
        elif len(frame) == 4 + size:
            whole.append(frame)
    return whole, passed, looked


class Reader:
    """Feeds a splitter as an inlet does: what was not used comes again."""

    def __init__(self) -> None:
        self.rest = b""
        self.looked: list[int] = []
        self.strange: list[int] = []
        self.order: list[bytes] = []
        self.whole: list[bytes] = []
        self.splitter = Splitter(head=HEAD, wanted=self.wants, strange=self.strange.append)

    def wants(self, chunk: memoryview, at: int) -> bool:
        _, key = struct.unpack_from(">ii", chunk, at)
        self.looked.append(key)
        assert len(chunk) - at >= HEAD
        return bool(key == WANTED)

    def feed(self, data: bytes) -> None:
        chunk = memoryview(self.rest + data)
        for piece in self.splitter.cut(chunk):
            if isinstance(piece, bytes):
                self.whole.append(piece)
            self.order.append(bytes(piece))
        self.rest = bytes(chunk[self.splitter.used :])

    @property
    def passed(self) -> bytes:
        wanted = list(self.whole)
        kept = []
        for piece in self.order:
            if wanted and piece is wanted[0]:
                wanted.pop(0)
            else:
                kept.append(piece)
        return b"".join(kept)


@given(frames, tails, st.lists(st.integers(min_value=1, max_value=12)))
def test_chunks_make_no_difference(parts: list[bytes], tail: bytes, sizes: list[int]) -> None:
    stream = b"".join(parts) + tail
    reader = Reader()
    at = 0
    for size in [*sizes, len(stream) or 1]:
        reader.feed(stream[at : at + size])
        at += size
    whole, passed, looked = oracle(stream)
    assert reader.whole == whole
    assert reader.passed == passed
    assert reader.looked == looked
    assert len(reader.strange) == (b"strange" in tail)
    if not tail:
        assert b"".join(reader.order) == stream
        assert reader.splitter.between_frames
        assert reader.rest == b""


@given(frames.filter(bool), st.data())
def test_between_frames(parts: list[bytes], data: st.DataObject) -> None:
    """True exactly where whole frames have been handed on, so that a frame may come in between."""
    stream = b"".join(parts)
    cut = data.draw(st.integers(min_value=0, max_value=len(stream)))
    reader = Reader()
    reader.feed(stream[:cut])
    ends = {len(b"".join(parts[:n])) for n in range(len(parts) + 1)}
    assert reader.splitter.between_frames is (cut - len(reader.rest) in ends)


def test_a_frame_is_handed_on_before_the_next_is_looked_at() -> None:
    story: list[object] = []

    def wants(chunk: memoryview, at: int) -> bool:
        story.append(struct.unpack_from(">ii", chunk, at)[1])
        return True

    splitter = Splitter(head=HEAD, wanted=wants, strange=story.append)
    one, two = (struct.pack(">ii", 4, n) for n in (1, 2))
    for piece in splitter.cut(memoryview(one + two)):
        story.append(piece)  # noqa: PERF402 - the order is what this is about
    assert story == [1, one, 2, two]

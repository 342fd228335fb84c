"""Splitting a stream into frames for any chunk sizes, compared with a simple model."""

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


def model(stream: bytes) -> tuple[list[bytes], bytes, list[int]]:
    """The wanted frames of a stream, all other bytes, and the keys of all frames."""
    wanted_frames, passed, keys = [], b"", []
    while len(stream) >= HEAD:
        size, key = struct.unpack_from(">ii", stream)
        if size < 4:
            return wanted_frames, passed + stream, keys
        keys.append(key)
        frame, stream = stream[: 4 + size], stream[4 + size :]
        if key != WANTED:
            passed += frame
        elif len(frame) == 4 + size:
            wanted_frames.append(frame)
    return wanted_frames, passed, keys


class Reader:
    """Feeds a splitter as an inlet does: unused bytes are fed again."""

    def __init__(self) -> None:
        self.unused = b""
        self.keys: list[int] = []
        self.strange: list[int] = []
        self.pieces: list[bytes] = []
        self.wanted_frames: list[bytes] = []
        self.splitter = Splitter(head=HEAD, wanted=self.wants, strange=self.strange.append)

    def wants(self, chunk: memoryview, at: int) -> bool:
        _, key = struct.unpack_from(">ii", chunk, at)
        self.keys.append(key)
        assert len(chunk) - at >= HEAD
        return bool(key == WANTED)

    def feed(self, data: bytes) -> None:
        chunk = memoryview(self.unused + data)
        for piece in self.splitter.cut(chunk):
            if isinstance(piece, bytes):
                self.wanted_frames.append(piece)
            self.pieces.append(bytes(piece))
        self.unused = bytes(chunk[self.splitter.used :])

    @property
    def passed(self) -> bytes:
        wanted = list(self.wanted_frames)
        others = []
        for piece in self.pieces:
            if wanted and piece is wanted[0]:
                wanted.pop(0)
            else:
                others.append(piece)
        return b"".join(others)


@given(frames, tails, st.lists(st.integers(min_value=1, max_value=12)))
def test_splits_frames_regardless_of_chunk_sizes(
    parts: list[bytes], tail: bytes, sizes: list[int]
) -> None:
    stream = b"".join(parts) + tail
    reader = Reader()
    at = 0
    for size in [*sizes, len(stream) or 1]:
        reader.feed(stream[at : at + size])
        at += size
    wanted_frames, passed, keys = model(stream)
    assert reader.wanted_frames == wanted_frames
    assert reader.passed == passed
    assert reader.keys == keys
    assert len(reader.strange) == (b"strange" in tail)
    if not tail:
        assert b"".join(reader.pieces) == stream
        assert reader.splitter.between_frames
        assert reader.unused == b""


@given(frames.filter(bool), st.data())
def test_between_frames_is_true_only_at_frame_ends(parts: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(parts)
    cut = data.draw(st.integers(min_value=0, max_value=len(stream)))
    reader = Reader()
    reader.feed(stream[:cut])
    ends = {len(b"".join(parts[:n])) for n in range(len(parts) + 1)}
    assert reader.splitter.between_frames is (cut - len(reader.unused) in ends)


def test_frame_is_yielded_before_the_next_is_inspected() -> None:
    events: list[object] = []

    def wants(chunk: memoryview, at: int) -> bool:
        events.append(struct.unpack_from(">ii", chunk, at)[1])
        return True

    splitter = Splitter(head=HEAD, wanted=wants, strange=events.append)
    one, two = (struct.pack(">ii", 4, n) for n in (1, 2))
    for piece in splitter.cut(memoryview(one + two)):
        events.append(piece)  # noqa: PERF402 - the test is about the order
    assert events == [1, one, 2, two]

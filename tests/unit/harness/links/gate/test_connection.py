"""A gate connection forwards the same bytes and frames for any chunk sizes."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.links.gate.connection import Connection
from onceproof.harness.links.gate.counters import Counters
from onceproof.harness.links.gate.exchange import Exchange
from onceproof.harness.links.gate.outlet import HeldFrame
from onceproof.harness.links.gate.rulebook import Rulebook, RuleCounter
from onceproof.harness.links.gate.rules import MessageMatch
from onceproof.harness.links.gate.topics import Topics

WATCHED, OTHER = 26, 999
"""EndTxn, which has a rule, and an unknown API."""

requests = st.lists(
    st.tuples(st.sampled_from([WATCHED, OTHER]), st.binary(max_size=30)), min_size=1, max_size=8
).map(lambda parts: [request(n, key, body) for n, (key, body) in enumerate(parts, 1)])
sizes = st.lists(st.integers(min_value=1, max_value=25), max_size=20)


def request(number: int, key: int, body: bytes) -> bytes:
    return struct.pack(">ihhih", 10 + len(body), key, 3, number, -1) + body


def response(number: int, body: bytes) -> bytes:
    return struct.pack(">ii", 4 + len(body), number) + body


def chunks(stream: bytes, sizes: list[int]) -> Iterator[bytes]:
    for size in sizes:
        yield stream[:size]
        stream = stream[size:]
    yield stream


class WiredConnection:
    """A gate connection between sockets of the test."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.client, client = socket.socketpair()
        self.broker, broker = socket.socketpair()
        for side in (self.client, client, self.broker, broker):
            side.setblocking(False)
        self.counters = Counters()
        self.events: list[dict[str, Any]] = []
        rules = Rulebook()
        for number, direction in enumerate(("request", "response"), start=1):
            match = MessageMatch(direction=direction, api="EndTxn")  # type: ignore[arg-type]
            rules.put(RuleCounter(id=number, rule=match.rule("report", times=None)))
        self.closed = False

        def report_event(event: str, **details: Any) -> None:
            self.events.append({"event": event, **details})

        def keep(_: RuleCounter, frame: HeldFrame) -> None:
            raise AssertionError(frame)

        def set_closed() -> None:
            self.closed = True

        self.connection = Connection(
            loop,
            client=client,
            broker=broker,
            exchange=lambda leave: Exchange(
                rules=rules,
                counters=self.counters,
                topics=Topics(),
                report=report_event,
                keep=keep,
                leave=leave,
            ),
            gone=set_closed,
        )
        self.connection.start()

    async def carry(self, chunk: bytes, source: socket.socket, sink: socket.socket) -> bytes:
        """Sends one chunk, lets the gate forward it, and returns what came out."""
        if chunk:
            source.send(chunk)
        await run_loop()
        with contextlib.suppress(BlockingIOError):
            return sink.recv(1 << 16)
        return b""


async def run_loop() -> None:
    """Runs the loop often enough to read pending data and to handle it."""
    for _ in range(3):
        await asyncio.sleep(0)


async def conversation(sent_requests: list[bytes], bodies: list[bytes], sizes: list[int]) -> None:
    wired = WiredConnection(asyncio.get_running_loop())
    forwarded = b""
    for chunk in chunks(b"".join(sent_requests), sizes):
        forwarded += await wired.carry(chunk, wired.client, wired.broker)
    assert forwarded == b"".join(sent_requests)
    answers = [response(n, body) for n, body in enumerate(bodies, 1)]
    returned = b""
    for chunk in chunks(b"".join(answers), sizes):
        returned += await wired.carry(chunk, wired.broker, wired.client)
    assert returned == b"".join(answers)
    keys = [struct.unpack_from(">h", frame, 4)[0] for frame in sent_requests]
    for direction, frames in (("request", sent_requests), ("response", answers)):
        for key in set(keys):
            matching = [f for f, k in zip(frames, keys, strict=True) if k == key]
            count = wired.counters.by_api[direction, key]  # type: ignore[index]
            assert (count.frames, count.bytes) == (len(matching), sum(map(len, matching)))
        # The random bodies also cause events of unreadable messages.
        fired = [t for t in wired.events if t["event"] == "fired"]
        fired_ids = [t["correlation_id"] for t in fired if t["direction"] == direction]
        assert fired_ids == [n for n, key in enumerate(keys, 1) if key == WATCHED]
    wired.client.close()
    await wired.carry(b"", wired.client, wired.broker)
    assert wired.broker.recv(1) == b""
    assert not wired.closed
    wired.broker.close()
    await run_loop()
    assert wired.closed


@given(requests, st.data(), sizes)
def test_forwards_frames_regardless_of_chunk_sizes(
    sent_requests: list[bytes], data: st.DataObject, sizes: list[int]
) -> None:
    bodies = data.draw(
        st.lists(st.binary(max_size=30), min_size=len(sent_requests), max_size=len(sent_requests))
    )
    asyncio.run(conversation(sent_requests, bodies, sizes))

"""Both directions of one connection: the same bytes and frames in whatever chunks they come."""

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
from onceproof.harness.links.gate.outlet import Held
from onceproof.harness.links.gate.rulebook import Counted, Rulebook
from onceproof.harness.links.gate.rules import MessageMatch
from onceproof.harness.links.gate.topics import Topics

WATCHED, OTHER = 26, 999
"""EndTxn, for which there is a rule, and an API that nobody knows."""

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


class Wired:
    """A connection of the gate whose ends are in our hands."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.client, client = socket.socketpair()
        self.broker, broker = socket.socketpair()
        for side in (self.client, client, self.broker, broker):
            side.setblocking(False)
        self.counters = Counters()
        self.told: list[dict[str, Any]] = []
        rules = Rulebook()
        rules.put(1, MessageMatch(direction="request", api="EndTxn").rule("report", times=None))
        rules.put(2, MessageMatch(direction="response", api="EndTxn").rule("report", times=None))
        self.gone = False

        def tell(event: str, **details: Any) -> None:
            self.told.append({"event": event, **details})

        def hold(_: Counted, frame: bytes) -> Held:
            raise AssertionError(frame)

        def over() -> None:
            self.gone = True

        self.connection = Connection(
            loop,
            client=client,
            broker=broker,
            exchange=lambda leave: Exchange(
                rules=rules,
                counters=self.counters,
                topics=Topics(),
                report=tell,
                hold=hold,
                leave=leave,
            ),
            gone=over,
        )
        self.connection.start()

    async def carry(self, chunk: bytes, source: socket.socket, sink: socket.socket) -> bytes:
        """Send a chunk, let the gate see it as one, and return what has come out."""
        if chunk:
            source.send(chunk)
        await turns()
        with contextlib.suppress(BlockingIOError):
            return sink.recv(1 << 16)
        return b""


async def turns() -> None:
    """One turn of the loop reads what is there; the others are for what that brings about."""
    for _ in range(3):
        await asyncio.sleep(0)


async def conversation(asked: list[bytes], bodies: list[bytes], sizes: list[int]) -> None:
    wired = Wired(asyncio.get_running_loop())
    there = b""
    for chunk in chunks(b"".join(asked), sizes):
        there += await wired.carry(chunk, wired.client, wired.broker)
    assert there == b"".join(asked)
    answers = [response(n, body) for n, body in enumerate(bodies, 1)]
    back = b""
    for chunk in chunks(b"".join(answers), sizes):
        back += await wired.carry(chunk, wired.broker, wired.client)
    assert back == b"".join(answers)
    keys = [struct.unpack_from(">h", frame, 4)[0] for frame in asked]
    for direction, frames in (("request", asked), ("response", answers)):
        for key in set(keys):
            mine = [f for f, k in zip(frames, keys, strict=True) if k == key]
            count = wired.counters.by_api[direction, key]  # type: ignore[index]
            assert (count.frames, count.bytes) == (len(mine), sum(map(len, mine)))
        fired = [t for t in wired.told if t["event"] == "fired"]  # bodies are none of its own
        told = [t["correlation_id"] for t in fired if t["direction"] == direction]
        assert told == [n for n, key in enumerate(keys, 1) if key == WATCHED]
    wired.client.close()
    await wired.carry(b"", wired.client, wired.broker)
    assert wired.broker.recv(1) == b""
    assert not wired.gone
    wired.broker.close()
    await turns()
    assert wired.gone


@given(requests, st.data(), sizes)
def test_chunks_make_no_difference(
    asked: list[bytes], data: st.DataObject, sizes: list[int]
) -> None:
    bodies = data.draw(st.lists(st.binary(max_size=30), min_size=len(asked), max_size=len(asked)))
    asyncio.run(conversation(asked, bodies, sizes))

"""TLS at a gate: bytes come out as they went in, and an end on one side is one on the other."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onceproof.harness.links.gate.tls import Tls, opened
from onceproof.harness.stage.certificates import new_authority, new_certificate

HOST = "127.0.0.1"
SECONDS = 20.0


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    folder = tmp_path_factory.mktemp("certificates")
    authority = new_authority(folder)
    broker = new_certificate(folder, "broker", authority, addresses=[HOST])
    return Tls(
        authority=str(authority.certificate),
        certificate=str(broker.certificate),
        key=str(broker.key),
    )


def run(work: Coroutine[Any, Any, None]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(SECONDS):
            await work

    asyncio.run(limited())


async def both_ends(tls: Tls) -> tuple[socket.socket, socket.socket]:
    """The plain ends of a connection: the client's and the server's."""
    loop = asyncio.get_running_loop()
    sides = socket.socketpair()
    for side in sides:
        side.setblocking(False)

    def spawn(work: Coroutine[Any, Any, None]) -> None:
        tasks.add(loop.create_task(work))

    tasks: set[asyncio.Task[None]] = set()
    client, server = await asyncio.gather(
        opened(sides[0], tls.as_client(), host=HOST, spawn=spawn),
        opened(sides[1], tls.as_broker(), host=None, spawn=spawn),
    )
    return client, server


async def all_of(side: socket.socket) -> bytes:
    loop, found = asyncio.get_running_loop(), bytearray()
    while data := await loop.sock_recv(side, 65536):
        found += data
    return bytes(found)


@settings(max_examples=10, deadline=None)
@given(there=st.binary(max_size=300_000), back=st.binary(max_size=300_000))
def test_each_direction_ends_by_itself(tls: Tls, there: bytes, back: bytes) -> None:
    """A client that sends no more still gets what comes, however much both send at once."""

    async def work() -> None:
        loop = asyncio.get_running_loop()
        client, server = await both_ends(tls)

        async def send(side: socket.socket, data: bytes) -> None:
            await loop.sock_sendall(side, data)
            side.shutdown(socket.SHUT_WR)

        with client, server:
            _, got, _, returned = await asyncio.gather(
                send(client, there), all_of(server), send(server, back), all_of(client)
            )
            assert (got, returned) == (there, back)

    run(work())


def test_what_was_sent_before_a_close_arrives(tls: Tls) -> None:
    async def work() -> None:
        client, server = await both_ends(tls)
        with server:
            await asyncio.get_running_loop().sock_sendall(client, b"held" * 10_000)
            client.close()
            assert await all_of(server) == b"held" * 10_000

    run(work())


def test_a_stranger_is_not_taken_for_the_broker(tls: Tls, tmp_path: Path) -> None:
    other = Tls(
        authority=str(new_authority(tmp_path).certificate),
        certificate=tls.certificate,
        key=tls.key,
    )

    async def work() -> None:
        one, another = socket.socketpair()
        for side in (one, another):
            side.setblocking(False)
        results = await asyncio.gather(
            opened(one, other.as_client(), host=HOST, spawn=lambda work: work.close()),
            opened(another, tls.as_broker(), host=None, spawn=lambda work: work.close()),
            return_exceptions=True,
        )
        assert isinstance(results[0], ssl.SSLCertVerificationError)
        assert one.fileno() == -1
        for made in results[1:]:
            if isinstance(made, socket.socket):
                made.close()
        another.close()

    run(work())


def test_who_leaves_before_tls_begins_is_an_os_error(tls: Tls) -> None:
    async def work() -> None:
        one, another = socket.socketpair()
        one.setblocking(False)
        another.close()
        with pytest.raises(OSError, match=r"closed during the TLS handshake|Broken pipe|reset"):
            await opened(one, tls.as_client(), host=HOST, spawn=lambda work: work.close())

    run(work())

"""TLS at a gate passes bytes unchanged and closes each direction separately."""

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


async def connect(tls: Tls) -> tuple[socket.socket, socket.socket]:
    """The plaintext sockets of client and server."""
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


async def receive_all(side: socket.socket) -> bytes:
    loop, data_so_far = asyncio.get_running_loop(), bytearray()
    while data := await loop.sock_recv(side, 65536):
        data_so_far += data
    return bytes(data_so_far)


@settings(max_examples=10, deadline=None)
@given(to_server=st.binary(max_size=300_000), to_client=st.binary(max_size=300_000))
def test_each_direction_closes_separately(tls: Tls, to_server: bytes, to_client: bytes) -> None:
    """A client that has closed its sending side still receives everything."""

    async def work() -> None:
        loop = asyncio.get_running_loop()
        client, server = await connect(tls)

        async def send(side: socket.socket, data: bytes) -> None:
            await loop.sock_sendall(side, data)
            side.shutdown(socket.SHUT_WR)

        with client, server:
            _, received, _, returned = await asyncio.gather(
                send(client, to_server),
                receive_all(server),
                send(server, to_client),
                receive_all(client),
            )
            assert (received, returned) == (to_server, to_client)

    run(work())


def test_data_sent_before_a_close_arrives(tls: Tls) -> None:
    async def work() -> None:
        client, server = await connect(tls)
        with server:
            await asyncio.get_running_loop().sock_sendall(client, b"held" * 10_000)
            client.close()
            assert await receive_all(server) == b"held" * 10_000

    run(work())


def test_client_rejects_certificate_of_another_authority(tls: Tls, tmp_path: Path) -> None:
    other = Tls(
        authority=str(new_authority(tmp_path).certificate),
        certificate=tls.certificate,
        key=tls.key,
    )

    async def work() -> None:
        client, broker = socket.socketpair()
        for side in (client, broker):
            side.setblocking(False)
        results = await asyncio.gather(
            opened(client, other.as_client(), host=HOST, spawn=lambda work: work.close()),
            opened(broker, tls.as_broker(), host=None, spawn=lambda work: work.close()),
            return_exceptions=True,
        )
        assert isinstance(results[0], ssl.SSLCertVerificationError)
        assert client.fileno() == -1
        for result in results[1:]:
            if isinstance(result, socket.socket):
                result.close()
        broker.close()

    run(work())


def test_disconnect_before_the_handshake_raises_os_error(tls: Tls) -> None:
    async def work() -> None:
        client, broker = socket.socketpair()
        client.setblocking(False)
        broker.close()
        with pytest.raises(OSError, match=r"closed during the TLS handshake|Broken pipe|reset"):
            await opened(client, tls.as_client(), host=HOST, spawn=lambda work: work.close())

    run(work())

"""TLS at a gate, which acts as the broker to clients and as a client to the broker.

A plain socket pair connects each encrypted socket to the gate, so that the rest of the gate is the
same as without TLS. Half-closes are forwarded: after a client has left, the broker still reads, and
held requests must still reach it.
"""

from __future__ import annotations

import asyncio
import select
import socket
import ssl
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

_BYTES: Final = 64 * 1024

Spawn = Callable[[Coroutine[Any, Any, None]], None]


@dataclass(frozen=True, kw_only=True)
class Tls:
    """Paths of a gate's TLS files.

    Attributes:
        authority: certificate of the CA that signed the broker's certificate.
        certificate: a certificate that clients accept as the broker's.
        key: the key of `certificate`.
    """

    authority: str
    certificate: str
    key: str

    def as_broker(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.certificate, self.key)
        return context

    def as_client(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self.authority)


async def opened(
    outer: socket.socket, context: ssl.SSLContext, *, host: str | None, spawn: Spawn
) -> socket.socket:
    """Do a TLS handshake on `outer`, take it over, and return the plain end of the connection.

    Args:
        host: the server's expected host name; None: this is the server.
        spawn: starts the task that forwards bytes until the end.

    Raises:
        OSError: the handshake failed; `outer` is closed.
    """
    inner, plain = socket.socketpair()
    try:
        for side in (inner, plain):
            side.setblocking(False)
        bridge = _Bridge(outer, inner, context, host)
        await bridge.shake_hands()
    except BaseException:
        for side in (outer, inner, plain):
            side.close()
        raise
    spawn(bridge.carry())
    return plain


class _Bridge:
    """Forward bytes between an encrypted and a plain socket."""

    def __init__(
        self, outer: socket.socket, inner: socket.socket, context: ssl.SSLContext, host: str | None
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._outer, self._inner = outer, inner
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(
            self._incoming, self._outgoing, server_side=host is None, server_hostname=host
        )
        self._writing = asyncio.Lock()

    async def shake_hands(self) -> None:
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                await self._flush()
                if not await self._receive():
                    raise ConnectionError(
                        "the connection was closed during the TLS handshake"
                    ) from None
            else:
                await self._flush()
                return

    async def carry(self) -> None:
        inward = self._loop.create_task(self._inward())
        try:
            await self._outward()
            if not self._is_abandoned():
                await inward
        finally:
            inward.cancel()
            self._outer.close()
            self._inner.close()

    async def _inward(self) -> None:
        with suppress(OSError):  # treat a reset like a close
            while data := await self._decrypted():
                await self._loop.sock_sendall(self._inner, data)
        with suppress(OSError):
            self._inner.shutdown(socket.SHUT_WR)

    async def _outward(self) -> None:
        with suppress(OSError):
            while data := await self._loop.sock_recv(self._inner, _BYTES):
                self._tls.write(data)
                await self._flush()
        with suppress(OSError):  # the peer has not sent close_notify yet, or has disconnected
            self._tls.unwrap()
        with suppress(OSError):
            await self._flush()
            self._outer.shutdown(socket.SHUT_WR)

    def _is_abandoned(self) -> bool:
        """Return whether the gate has closed both directions of its end."""
        poll = select.poll()
        poll.register(self._inner, 0)
        return any(event & select.POLLHUP for _, event in poll.poll(0))

    async def _decrypted(self) -> bytes:
        while True:
            try:
                return self._tls.read(_BYTES)
            except ssl.SSLWantReadError:
                # TLS's own messages. If there are none, do not wait for the other direction.
                if self._outgoing.pending:
                    await self._flush()
                if not await self._receive():
                    return b""

    async def _receive(self) -> bool:
        data = await self._loop.sock_recv(self._outer, _BYTES)
        self._incoming.write(data)
        return bool(data)

    async def _flush(self) -> None:
        async with self._writing:
            if data := self._outgoing.read():
                await self._loop.sock_sendall(self._outer, data)

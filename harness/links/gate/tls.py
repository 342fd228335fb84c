"""TLS at a gate: it is the broker to a client, and a client to the broker.

Between an encrypted socket and the gate stands a pair of plain ones, so that all else of the gate
is as without TLS. An end on one side is an end on the other, also of one direction alone: a broker
reads on after a client has left, and what was held for it must still reach it.
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
    """Paths of what a gate needs.

    Attributes:
        authority: the certificate of who signed the broker's.
        certificate: one that clients take for the broker's.
        key: that certificate's.
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
    """The plain end of an encrypted connection; `outer` closes with it.

    Args:
        outer: connected; its own from now on.
        host: whom a client expects there; None: this is the server.
        spawn: starts what carries bytes until the end.

    Raises:
        OSError: there is no TLS to be had with the other side; `outer` is closed.
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
    """Carries bytes between an encrypted socket and a plain one."""

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
                    raise ConnectionError("the connection ended before TLS began") from None
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
        with suppress(OSError):  # a reset ends it like a close
            while data := await self._decrypted():
                await self._loop.sock_sendall(self._inner, data)
        with suppress(OSError):
            self._inner.shutdown(socket.SHUT_WR)

    async def _outward(self) -> None:
        with suppress(OSError):
            while data := await self._loop.sock_recv(self._inner, _BYTES):
                self._tls.write(data)
                await self._flush()
        with suppress(OSError):  # the other side's farewell has not come, or it is gone
            self._tls.unwrap()
        with suppress(OSError):
            await self._flush()
            self._outer.shutdown(socket.SHUT_WR)

    def _is_abandoned(self) -> bool:
        """Whether the gate has closed its end, and not only one direction of it."""
        poll = select.poll()
        poll.register(self._inner, 0)
        return any(event & select.POLLHUP for _, event in poll.poll(0))

    async def _decrypted(self) -> bytes:
        """The next bytes; empty at the end."""
        while True:
            try:
                return self._tls.read(_BYTES)
            except ssl.SSLWantReadError:
                # Messages of TLS itself. Without one, this must not wait for the other direction.
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

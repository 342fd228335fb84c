"""Requests to every kind of node, as bytes: what probes send, and how they know an answer."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from kafka.protocol.metadata import ApiVersionsRequest

from onceproof.harness.links.topology import HTTP_SERVICE, POSTGRES, QUEUE_BROKER
from onceproof.harness.stage.base import Stage
from onceproof.harness.stage.database_greeting import log_in
from onceproof.harness.stage.database_login import credentials

LONGEST: Final = 30_000
"""Maximum padding of a Kafka request in bytes: the limit of a client id."""


class WireProtocol(Protocol):
    """Requests and answers of one kind of node."""

    def handshake(self, sock: socket.socket, stage: Stage) -> None: ...
    def request(self, *, more: int) -> bytes: ...
    def answer(self, sock: socket.socket) -> int: ...


class _Kafka:
    def handshake(self, sock: socket.socket, stage: Stage) -> None:
        """The client speaks first."""

    def request(self, *, more: int) -> bytes:
        question = ApiVersionsRequest()
        question.with_header(correlation_id=1, client_id="p" * (1 + min(more, LONGEST)))
        frame: bytes = question.encode(version=0, framed=True, header=True)
        return frame

    def answer(self, sock: socket.socket) -> int:
        (size,) = struct.unpack(">i", _exactly(sock, 4))
        return 4 + len(_exactly(sock, size))


class _Postgres:
    _READY = b"Z"

    def handshake(self, sock: socket.socket, stage: Stage) -> None:
        def hear() -> tuple[bytes, bytes]:
            kind, size = struct.unpack(">ci", _exactly(sock, 5))
            return kind, _exactly(sock, size - 4)

        who = credentials(stage.database("pipeline"))
        log_in(sock.sendall, hear, user=who.user, database=who.database, password=who.password)

    def request(self, *, more: int) -> bytes:
        body = b"SELECT 1 -- " + b"p" * more + b"\0"
        return b"Q" + struct.pack(">i", 4 + len(body)) + body

    def answer(self, sock: socket.socket) -> int:
        received = 0
        while True:
            kind, size = struct.unpack(">ci", _exactly(sock, 5))
            received += 5 + len(_exactly(sock, size - 4))
            if kind == self._READY:
                return received


class _Artemis:
    _PING: Final = 10
    _TTL_MS: Final = 60_000

    def handshake(self, sock: socket.socket, stage: Stage) -> None:
        sock.sendall(b"ARTEMIS")

    def request(self, *, more: int) -> bytes:
        body = struct.pack(">bqq", self._PING, 0, self._TTL_MS) + b"p" * more
        return struct.pack(">i", len(body)) + body

    def answer(self, sock: socket.socket) -> int:
        (size,) = struct.unpack(">i", _exactly(sock, 4))
        return 4 + len(_exactly(sock, size))


class _Http:
    _LENGTH: Final = b"content-length:"

    def handshake(self, sock: socket.socket, stage: Stage) -> None:
        """The client speaks first."""

    def request(self, *, more: int) -> bytes:
        return b"GET / HTTP/1.1\r\nHost: probe\r\nX-Probe: %b\r\n\r\n" % (b"p" * more)

    def answer(self, sock: socket.socket) -> int:
        head = bytearray()
        while not head.endswith(b"\r\n\r\n"):
            head += _exactly(sock, 1)
        (length,) = (line for line in head.lower().splitlines() if line.startswith(self._LENGTH))
        return len(head) + len(_exactly(sock, int(length.removeprefix(self._LENGTH))))


class _Nats:
    _PONG: Final = b"PONG\r\n"

    def handshake(self, sock: socket.socket, stage: Stage) -> None:
        _line(sock)
        sock.sendall(b'CONNECT {"verbose":false}\r\n')

    def request(self, *, more: int) -> bytes:
        return b"PUB probe %d\r\n%b\r\nPING\r\n" % (more, b"p" * more)

    def answer(self, sock: socket.socket) -> int:
        received = 0
        while (line := _line(sock)) != self._PONG:
            received += len(line)
        return received + len(line)


class _Valkey:
    def handshake(self, sock: socket.socket, stage: Stage) -> None:
        """The client speaks first."""

    def request(self, *, more: int) -> bytes:
        return b"*2\r\n$4\r\nPING\r\n$%d\r\n%b\r\n" % (1 + more, b"p" * (1 + more))

    def answer(self, sock: socket.socket) -> int:
        head = _line(sock)
        return len(head) + len(_exactly(sock, int(head[1:]) + len(b"\r\n")))


_SERVICES: Final[Mapping[str, Callable[[], WireProtocol]]] = {
    POSTGRES: _Postgres,
    HTTP_SERVICE: _Http,
}
_QUEUE_BROKERS: Final[Mapping[str, Callable[[], WireProtocol]]] = {
    "artemis": _Artemis,
    "nats": _Nats,
    "valkey": _Valkey,
}


def protocol_of(stage: Stage, node: str) -> WireProtocol:
    """Return the protocol that a node of a stage speaks."""
    if node == QUEUE_BROKER:
        return _QUEUE_BROKERS[stage.queues().product]()
    return _SERVICES.get(node, _Kafka)()


def _line(sock: socket.socket) -> bytes:
    found = bytearray()
    while not found.endswith(b"\r\n"):
        found += _exactly(sock, 1)
    return bytes(found)


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = sock.recv(size - len(data))
        if not part:
            raise ConnectionError("the connection was closed")
        data += part
    return bytes(data)

"""Measure a link by a connection of our own.

The probe sends requests that change nothing: API versions to a broker, a constant query to a
database, a ping to a queue broker, a disallowed method to an HTTP service. Requests can be padded,
and many can be sent at once, to count and time bytes in each direction.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from kafka.protocol.metadata import ApiVersionsRequest

from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.links.topology import ARTEMIS, AUDIENCES, HTTP_SERVICE, POSTGRES, Link
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.base import Stage
from onceproof.harness.stage.database_greeting import log_in
from onceproof.harness.stage.database_login import credentials

SECONDS: Final = 30.0
"""Maximum time for one answer on a disturbed link."""
LOOKS: Final = 5
"""Measurements before the disturbance; the fastest counts, as a busy machine slows some down."""
LONGEST: Final = 30_000
"""Maximum padding of a Kafka request in bytes: the limit of a client id."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """Time and bytes of one or more requests and their answers."""

    seconds: float
    sent: int
    received: int


class _WireProtocol(Protocol):
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


_PROTOCOLS: Final[Mapping[str, Callable[[], _WireProtocol]]] = {
    POSTGRES: _Postgres,
    ARTEMIS: _Artemis,
    HTTP_SERVICE: _Http,
}
"""Protocols of nodes other than Kafka brokers."""


class Probe:
    """A connection on a link, open from construction until `close`."""

    def __init__(self, stage: Stage, link: Link) -> None:
        """Connect; raise `OSError` if the connection is refused or ends during the handshake."""
        self._protocol = _PROTOCOLS.get(link.target, _Kafka)()
        host, port = stage.entrance(link).rsplit(":", 1)
        if link.source in AUDIENCES and link.target in stage.brokers:
            self._socket = connection(f"{host}:{port}").open(SECONDS)
        else:
            self._socket = socket.create_connection((host, int(port)), SECONDS)
        try:
            self._protocol.handshake(self._socket, stage)
        except BaseException:
            self._socket.close()
            raise

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Probe:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, *, more: int = 0, times: int = 1) -> int:
        """Send requests, each padded by `more` bytes; return the bytes sent."""
        data = self._protocol.request(more=more) * times
        self._socket.sendall(data)
        return len(data)

    def length(self, *, more: int = 0) -> int:
        return len(self._protocol.request(more=more))

    def ask(self, *, more: int = 0, times: int = 1) -> Measurement:
        """Send requests at once and wait for all answers.

        Raises:
            OSError: the connection ends, or an answer takes too long.
        """
        began = time.monotonic()
        sent = self.send(more=more, times=times)
        received = sum(self._protocol.answer(self._socket) for _ in range(times))
        return Measurement(seconds=time.monotonic() - began, sent=sent, received=received)

    def answer(self) -> int:
        """Wait for an answer and return its bytes; raises `OSError` as `ask` does."""
        return self._protocol.answer(self._socket)

    def silent(self, seconds: float) -> bool:
        """Whether the connection is open and nothing arrives on it within some seconds."""
        return self._socket.fileno() >= 0 and not select.select([self._socket], [], [], seconds)[0]

    def send_invalid(self) -> None:
        """Send an invalid request, for which the node closes the connection."""
        self._socket.sendall(struct.pack(">ihh", 8, 32_000, 32_000) + b"\xff" * 4)

    def until_closed(self) -> int:
        """Read to the end of the connection; return the bytes or raise `TimeoutError`."""
        received = 0
        try:
            while data := self._socket.recv(1 << 16):
                received += len(data)
        except ConnectionError:
            pass
        return received


def undisturbed(stage: Stage, link: Link) -> Probe:
    """Open a probe; raise `StageTrouble` if the link does not work before it is disturbed."""
    try:
        probe = Probe(stage, link)
        try:
            probe.ask()
        except BaseException:
            probe.close()
            raise
    except OSError as error:
        raise StageTrouble(f"{link} did not work before the fault: {error}") from error
    return probe


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = sock.recv(size - len(data))
        if not part:
            raise ConnectionError("the connection was closed")
        data += part
    return bytes(data)

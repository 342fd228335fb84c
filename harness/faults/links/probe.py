"""A connection of our own on a link: what a client there meets, measured.

It speaks to whoever is at the end, and asks for nothing that changes
anything: a broker for its API versions, a database for a constant, a queue broker for an echo, an
HTTP service for a method that it does not allow. A
request can be made longer, and many can be sent at once, so that bytes can be counted and timed in
each direction.
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
"""How long one answer may take on a link that is disturbed."""
LOOKS: Final = 5
"""How often a link is measured before it is disturbed; the quickest counts. A machine that is busy
now and then makes one look as slow as a disturbance would."""
LONGEST: Final = 30_000
"""Bytes that a request of Kafka's can be made longer: the limit of a client's name."""


@dataclass(frozen=True, kw_only=True)
class Took:
    """A question and its answer, or many of each."""

    seconds: float
    sent: int
    received: int


class _Speech(Protocol):
    def greet(self, way: socket.socket, stage: Stage) -> None: ...
    def request(self, *, more: int) -> bytes: ...
    def answer(self, way: socket.socket) -> int: ...


class _Kafka:
    def greet(self, way: socket.socket, stage: Stage) -> None:
        """Kafka begins with a request."""

    def request(self, *, more: int) -> bytes:
        question = ApiVersionsRequest()
        question.with_header(correlation_id=1, client_id="p" * (1 + min(more, LONGEST)))
        frame: bytes = question.encode(version=0, framed=True, header=True)
        return frame

    def answer(self, way: socket.socket) -> int:
        (size,) = struct.unpack(">i", _exactly(way, 4))
        return 4 + len(_exactly(way, size))


class _Postgres:
    _READY = b"Z"

    def greet(self, way: socket.socket, stage: Stage) -> None:
        def hear() -> tuple[bytes, bytes]:
            kind, size = struct.unpack(">ci", _exactly(way, 5))
            return kind, _exactly(way, size - 4)

        who = credentials(stage.database("pipeline"))
        log_in(way.sendall, hear, user=who.user, database=who.database, password=who.password)

    def request(self, *, more: int) -> bytes:
        body = b"SELECT 1 -- " + b"p" * more + b"\0"
        return b"Q" + struct.pack(">i", 4 + len(body)) + body

    def answer(self, way: socket.socket) -> int:
        received = 0
        while True:
            kind, size = struct.unpack(">ci", _exactly(way, 5))
            received += 5 + len(_exactly(way, size - 4))
            if kind == self._READY:
                return received


class _Artemis:
    _PING: Final = 10
    _TTL_MS: Final = 60_000

    def greet(self, way: socket.socket, stage: Stage) -> None:
        way.sendall(b"ARTEMIS")

    def request(self, *, more: int) -> bytes:
        body = struct.pack(">bqq", self._PING, 0, self._TTL_MS) + b"p" * more
        return struct.pack(">i", len(body)) + body

    def answer(self, way: socket.socket) -> int:
        (size,) = struct.unpack(">i", _exactly(way, 4))
        return 4 + len(_exactly(way, size))


class _Http:
    _LENGTH: Final = b"content-length:"

    def greet(self, way: socket.socket, stage: Stage) -> None:
        """HTTP begins with a request."""

    def request(self, *, more: int) -> bytes:
        return b"GET / HTTP/1.1\r\nHost: probe\r\nX-Probe: %b\r\n\r\n" % (b"p" * more)

    def answer(self, way: socket.socket) -> int:
        head = bytearray()
        while not head.endswith(b"\r\n\r\n"):
            head += _exactly(way, 1)
        (length,) = (line for line in head.lower().splitlines() if line.startswith(self._LENGTH))
        return len(head) + len(_exactly(way, int(length.removeprefix(self._LENGTH))))


_SPEECHES: Final[Mapping[str, Callable[[], _Speech]]] = {
    POSTGRES: _Postgres,
    ARTEMIS: _Artemis,
    HTTP_SERVICE: _Http,
}
"""What nodes speak that are no brokers of Kafka's."""


class Probe:
    """One connection on a link, opened when it is made."""

    def __init__(self, stage: Stage, link: Link) -> None:
        """Connect.

        Raises:
            OSError: it is refused, or ends while it is opened.
        """
        self._speech = _SPEECHES.get(link.target, _Kafka)()
        host, port = stage.entrance(link).rsplit(":", 1)
        if link.source in AUDIENCES and link.target in stage.brokers:
            self._way = connection(f"{host}:{port}").open(SECONDS)
        else:
            self._way = socket.create_connection((host, int(port)), SECONDS)
        try:
            self._speech.greet(self._way, stage)
        except BaseException:
            self._way.close()
            raise

    def close(self) -> None:
        self._way.close()

    def __enter__(self) -> Probe:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, *, more: int = 0, times: int = 1) -> int:
        """Send requests, each so many bytes longer; returns how many bytes that were."""
        data = self._speech.request(more=more) * times
        self._way.sendall(data)
        return len(data)

    def length(self, *, more: int = 0) -> int:
        """How many bytes a request has."""
        return len(self._speech.request(more=more))

    def ask(self, *, more: int = 0, times: int = 1) -> Took:
        """Send requests at once and wait for all answers.

        Raises:
            OSError: the connection ends, or says nothing for too long.
        """
        began = time.monotonic()
        sent = self.send(more=more, times=times)
        received = sum(self._speech.answer(self._way) for _ in range(times))
        return Took(seconds=time.monotonic() - began, sent=sent, received=received)

    def answer(self) -> int:
        """Wait for an answer; returns its bytes.

        Raises:
            OSError: the connection ends, or says nothing for too long.
        """
        return self._speech.answer(self._way)

    def silent(self, seconds: float) -> bool:
        """Whether nothing comes for so long, neither a byte nor the connection's end.

        One that we have closed is not silent: it has ended.
        """
        return self._way.fileno() >= 0 and not select.select([self._way], [], [], seconds)[0]

    def offend(self) -> None:
        """Send what nobody can understand: whoever gets it hangs up."""
        self._way.sendall(struct.pack(">ihh", 8, 32_000, 32_000) + b"\xff" * 4)

    def until_closed(self) -> int:
        """Take what comes until the connection ends; returns how many bytes that were.

        Raises:
            TimeoutError: it does not end.
        """
        received = 0
        try:
            while data := self._way.recv(1 << 16):
                received += len(data)
        except ConnectionError:
            pass
        return received


def undisturbed(stage: Stage, link: Link) -> Probe:
    """A probe on a link that works.

    Raises:
        StageTrouble: it does not: what is done to it now would prove nothing.
    """
    try:
        probe = Probe(stage, link)
        try:
            probe.ask()
        except BaseException:
            probe.close()
            raise
    except OSError as error:
        raise StageTrouble(f"{link} does not work before it is disturbed: {error}") from error
    return probe


def _exactly(way: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = way.recv(size - len(data))
        if not part:
            raise ConnectionError("the connection was closed")
        data += part
    return bytes(data)

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
from dataclasses import dataclass
from typing import Final

from onceproof.harness.faults.links.wire import protocol_of
from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.links.topology import AUDIENCES, Link
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.base import Stage

SECONDS: Final = 30.0
"""Maximum time for one answer on a disturbed link."""
LOOKS: Final = 5
"""Measurements before the disturbance; the fastest counts, as a busy machine slows some down."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """Time and bytes of one or more requests and their answers."""

    seconds: float
    sent: int
    received: int


class Probe:
    """A connection on a link, open from construction until `close`."""

    def __init__(self, stage: Stage, link: Link) -> None:
        """Connect; raise `OSError` if the connection is refused or ends during the handshake."""
        self._protocol = protocol_of(stage, link.target)
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

"""One question to one broker: a socket, a request, its response.

A client library asks whichever broker it likes, and an isolated one goes on
answering with what it last knew. Where it matters *who* answers, the question goes through here.
Encoding and decoding are kafka-python's.
"""

from __future__ import annotations

import socket
import struct
from typing import Any

from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.kafka.connecting.handshake import exactly

SECONDS = 5.0


class Wire:
    """A connection to one broker's direct listener, opened when first used. Not thread-safe."""

    def __init__(self, address: str, *, seconds: float = SECONDS) -> None:
        """Nobody is asked yet; an answer may take so many seconds."""
        self.address, self._seconds = address, seconds
        self._socket: socket.socket | None = None
        self._correlation = 0

    def ask(self, request: Any, *, version: int, answer: Any) -> Any:
        """Send a request of kafka-python's and decode the response with its class.

        Raises:
            OSError: the broker is not there, or did not answer in time; the next call connects
                anew.
            CredentialsRefused: the broker does not let us in.
        """
        self._correlation += 1
        request.with_header(correlation_id=self._correlation, client_id="onceproof-auditor")
        frame = request.encode(version=version, framed=True, header=True)
        try:
            return answer.decode(self._exchange(frame), version=version, header=True)
        except BaseException:
            # What is left of an answer must not be taken for that of the next question.
            self.close()
            raise

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _exchange(self, frame: bytes) -> bytes:
        if self._socket is None:
            self._socket = connection(self.address).open(self._seconds)
        self._socket.sendall(frame)
        (size,) = struct.unpack(">i", exactly(self._socket, 4))
        return exactly(self._socket, size)

"""Send a request to one particular broker.

Client libraries choose the broker themselves, and an isolated broker answers from outdated
metadata. Use this module if it matters which broker answers. kafka-python encodes and decodes.
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
        """Create a connection without opening it; `seconds` is the timeout of an answer."""
        self.address, self._seconds = address, seconds
        self._socket: socket.socket | None = None
        self._correlation = 0

    def ask(self, request: Any, *, version: int, answer: Any) -> Any:
        """Send a kafka-python request and decode the response with the class `answer`.

        Raises:
            OSError: the broker is unreachable or did not answer in time; the next call reconnects.
            CredentialsRefused: the broker refuses the credentials.
        """
        self._correlation += 1
        request.with_header(correlation_id=self._correlation, client_id="onceproof-auditor")
        frame = request.encode(version=version, framed=True, header=True)
        try:
            return answer.decode(self._exchange(frame), version=version, header=True)
        except BaseException:
            # The rest of an answer must not be read as the answer to the next request.
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

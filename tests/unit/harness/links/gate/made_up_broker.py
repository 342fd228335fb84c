"""A scripted Kafka broker and a minimal client for tests of the gate."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable
from typing import Any

from kafka.protocol.api_header import ResponseClassRegistry

from onceproof.harness.wait import wait_until

SECONDS = 20.0


def frame(request: Any, *, correlation_id: int, version: int, client_id: str = "it") -> bytes:
    """The request as a framed message."""
    request.with_header(correlation_id=correlation_id, client_id=client_id)
    return bytes(request.encode(version=version, framed=True, header=True))


def correlation(data: bytes) -> int:
    return int(struct.unpack_from(">hhi", data, 4)[2])


def answer(data: bytes) -> bytes:
    """The default response of kafka-python to a request."""
    key, version, correlation_id = struct.unpack_from(">hhi", data, 4)
    response = ResponseClassRegistry._response_class_registry[key](version=version)
    response.with_header(correlation_id=correlation_id)
    return bytes(response.encode(framed=True, header=True))


def read_frame(side: socket.socket) -> bytes | None:
    """The next frame with its size prefix, or None at the end of the stream."""
    head = read_exactly(side, 4)
    if head is None:
        return None
    body = read_exactly(side, struct.unpack(">i", head)[0])
    return None if body is None else head + body


def read_exactly(side: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        try:
            part = side.recv(size - len(data))
        except ConnectionError:
            return None
        if not part:
            return None
        data += part
    return bytes(data)


class MadeUpBroker:
    """A broker on loopback that records frames and answers with `reply`, if that is not None."""

    def __init__(self, reply: Callable[[bytes], bytes | None] = answer) -> None:
        self.reply = reply
        self.received: list[bytes] = []
        self.ended_connections = 0
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.connections: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Closes all sockets, as when a broker is killed."""
        # close() alone would not wake the thread that waits on the socket.
        for side in (self._listener, *self.connections):
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def wait(self, frames: int) -> list[bytes]:
        wait_until(
            lambda: len(self.received) >= frames,
            what=f"{frames} frames at the broker",
            seconds=SECONDS,
            every=0.005,
            seen=lambda: self.received,
        )
        return self.received

    def wait_ended(self, times: int = 1) -> None:
        wait_until(
            lambda: self.ended_connections >= times,
            what="the end of the broker's side",
            seconds=SECONDS,
            every=0.005,
        )

    def _accept(self) -> None:
        while True:
            try:
                side, _ = self._listener.accept()
            except OSError:
                return
            self.connections.append(side)
            threading.Thread(target=self._serve, args=(side,), daemon=True).start()

    def _serve(self, side: socket.socket) -> None:
        try:
            while data := read_frame(side):
                self.received.append(data)
                self.may_answer.wait()
                if reply := self.reply(data):
                    side.sendall(reply)
        except OSError:
            return
        finally:
            self.ended_connections += 1
            side.close()


class Client:
    """A client connection that sends and receives frames."""

    def __init__(self, address: str) -> None:
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), SECONDS)

    def send(self, *frames: bytes) -> None:
        self.socket.sendall(b"".join(frames))

    def receive(self) -> bytes | None:
        return read_frame(self.socket)

    def receive_rest(self) -> list[bytes]:
        """Closes the sending side and returns all frames up to the end of the stream."""
        self.socket.shutdown(socket.SHUT_WR)
        return list(iter(self.receive, None))

    def silent(self) -> bool:
        """Whether no data has arrived yet."""
        self.socket.setblocking(False)
        try:
            return not self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        finally:
            self.socket.settimeout(SECONDS)

    def close(self) -> None:
        self.socket.close()

    def reset(self) -> None:
        """Resets the connection, as when a process is killed with unread data."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

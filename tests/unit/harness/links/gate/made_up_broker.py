"""A broker that knows nothing but to answer, and a client of a few lines, for the gate's tests."""

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
    """A request as bytes."""
    request.with_header(correlation_id=correlation_id, client_id=client_id)
    return bytes(request.encode(version=version, framed=True, header=True))


def correlation(data: bytes) -> int:
    return int(struct.unpack_from(">hhi", data, 4)[2])


def answer(data: bytes) -> bytes:
    """A response as kafka-python makes it, all defaults."""
    key, version, correlation_id = struct.unpack_from(">hhi", data, 4)
    made = ResponseClassRegistry._response_class_registry[key](version=version)
    made.with_header(correlation_id=correlation_id)
    return bytes(made.encode(framed=True, header=True))


def read_frame(side: socket.socket) -> bytes | None:
    """The next frame, size and all; None at the end."""
    head = exactly(side, 4)
    if head is None:
        return None
    body = exactly(side, struct.unpack(">i", head)[0])
    return None if body is None else head + body


def exactly(side: socket.socket, size: int) -> bytes | None:
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
    """Listens on loopback, keeps every frame, answers each by `reply`; `None` is no answer."""

    def __init__(self, reply: Callable[[bytes], bytes | None] = answer) -> None:
        self.reply = reply
        self.got: list[bytes] = []
        self.ended = 0
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.sides: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """As a broker that is killed: nothing of it is left."""
        # A close alone would leave the socket to the thread that waits on it.
        for one in (self._listener, *self.sides):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def wait(self, frames: int) -> list[bytes]:
        wait_until(
            lambda: len(self.got) >= frames,
            what=f"{frames} frames at the broker",
            seconds=SECONDS,
            every=0.005,
            seen=lambda: self.got,
        )
        return self.got

    def wait_ended(self, times: int = 1) -> None:
        wait_until(
            lambda: self.ended >= times,
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
            self.sides.append(side)
            threading.Thread(target=self._serve, args=(side,), daemon=True).start()

    def _serve(self, side: socket.socket) -> None:
        try:
            while data := read_frame(side):
                self.got.append(data)
                self.may_answer.wait()
                if reply := self.reply(data):
                    side.sendall(reply)
        except OSError:
            return
        finally:
            self.ended += 1
            side.close()


class Client:
    """A connection that sends frames and reads them."""

    def __init__(self, address: str) -> None:
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), SECONDS)

    def send(self, *frames: bytes) -> None:
        self.socket.sendall(b"".join(frames))

    def receive(self) -> bytes | None:
        return read_frame(self.socket)

    def rest(self) -> list[bytes]:
        """What still comes, when nothing more is asked, until the other side ends too."""
        self.socket.shutdown(socket.SHUT_WR)
        return list(iter(self.receive, None))

    def silent(self) -> bool:
        """Whether nothing has come so far."""
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
        """End it as a process that is killed with much unread: without a farewell."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

"""Detection of TCP connections that wait for an answer, on real sockets."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator

import pytest

from onceproof.harness.processes.tcp_silence import silences, waiting_ports

Pair = tuple[socket.socket, socket.socket]


class Server:
    """A listener that opens connections and returns both ends."""

    def __init__(self, family: socket.AddressFamily, undo: contextlib.ExitStack) -> None:
        self._family, self._undo = family, undo
        self._listener = undo.enter_context(socket.socket(family))
        self._listener.bind(("127.0.0.1" if family == socket.AF_INET else "::1", 0))
        self._listener.listen()
        self.port = int(self._listener.getsockname()[1])

    def connect(self) -> Pair:
        client = self._undo.enter_context(socket.socket(self._family))
        client.connect(self._listener.getsockname())
        return client, self._undo.enter_context(self._listener.accept()[0])


@pytest.fixture(params=[socket.AF_INET, socket.AF_INET6])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with contextlib.ExitStack() as undo:
        try:
            yield Server(request.param, undo)
        except OSError as error:
            pytest.skip(f"no such addresses here: {error}")


def client_port(pair: Pair) -> int:
    return int(pair[0].getsockname()[1])


def ask(pair: Pair, *, answered: bool) -> float:
    """Send a request and perhaps its answer; return when the request arrived."""
    pair[0].sendall(b"?")
    pair[1].recv(1)
    arrived = time.monotonic()
    if answered:
        pair[1].sendall(b"!")
        pair[0].recv(1)
    return arrived


def test_connection_with_unanswered_request_waits(server: Server) -> None:
    waiting, busy = server.connect(), server.connect()
    ask(waiting, answered=True)
    asked = ask(waiting, answered=False)
    while (passed := time.monotonic() - asked) < 0.2:
        ask(busy, answered=True)
        time.sleep(0.01)
    assert waiting_ports(server.port, passed) == {client_port(waiting)}


def test_idle_connection_does_not_wait(server: Server) -> None:
    idle, waiting = server.connect(), server.connect()
    ask(idle, answered=True)
    time.sleep(0.7)
    asked = ask(waiting, answered=False)
    time.sleep(0.1)
    assert waiting_ports(server.port, time.monotonic() - asked) == {client_port(waiting)}


def test_connection_that_keeps_sending_still_waits(server: Server) -> None:
    waiting = server.connect()
    asked = ask(waiting, answered=False)
    time.sleep(0.2)
    waiting[0].sendall(b"?")
    assert waiting_ports(server.port, time.monotonic() - asked) == {client_port(waiting)}


def test_silences_lists_only_connections_to_the_port(server: Server) -> None:
    pairs = [server.connect() for _ in range(100)]
    assert {silence.port for silence in silences(server.port)} == {
        client_port(pair) for pair in pairs
    }
    assert {silence.to for silence in silences(server.port)} == {server.port}

"""Which connection waits for an answer, asked of this machine's own kernel."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator

import pytest

from onceproof.harness.processes.tcp_silence import silences, waiting_ports

Pair = tuple[socket.socket, socket.socket]


class Server:
    """A listener, and connections to it with what it has at their other ends."""

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


def own(pair: Pair) -> int:
    return int(pair[0].getsockname()[1])


def ask(pair: Pair, *, answered: bool) -> float:
    """A request, and perhaps its answer; returns when the request had arrived."""
    pair[0].sendall(b"?")
    pair[1].recv(1)
    arrived = time.monotonic()
    if answered:
        pair[1].sendall(b"!")
        pair[0].recv(1)
    return arrived


def test_who_asked_and_has_no_answer_waits(server: Server) -> None:
    waits, busy = server.connect(), server.connect()
    ask(waits, answered=True)
    asked = ask(waits, answered=False)
    while (passed := time.monotonic() - asked) < 0.2:
        ask(busy, answered=True)
        time.sleep(0.01)
    assert waiting_ports(server.port, passed) == {own(waits)}


def test_a_connection_that_was_silent_before_does_not_wait(server: Server) -> None:
    idle, waits = server.connect(), server.connect()
    ask(idle, answered=True)
    time.sleep(0.7)
    asked = ask(waits, answered=False)
    time.sleep(0.1)
    assert waiting_ports(server.port, time.monotonic() - asked) == {own(waits)}


def test_who_goes_on_sending_waits_all_the_same(server: Server) -> None:
    waits = server.connect()
    asked = ask(waits, answered=False)
    time.sleep(0.2)
    waits[0].sendall(b"?")
    assert waiting_ports(server.port, time.monotonic() - asked) == {own(waits)}


def test_only_connections_to_that_port_are_told(server: Server) -> None:
    pairs = [server.connect() for _ in range(100)]
    assert {one.port for one in silences(server.port)} == {own(pair) for pair in pairs}
    assert {one.to for one in silences(server.port)} == {server.port}

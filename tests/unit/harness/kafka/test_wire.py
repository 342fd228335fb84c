"""Requests to one broker that hangs up or stays silent, and cluster views."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator

import pytest
from kafka.protocol.metadata import MetadataRequest, MetadataResponse

from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.kafka.wire import Wire

Behaviour = Callable[[socket.socket, int], None]


def answer(connection: socket.socket, correlation: int, node: int) -> None:
    """A Metadata response of version 8, written by hand: one broker, no topics."""
    body = struct.pack(">ii", correlation, 0)
    body += struct.pack(">iih1sih", 1, node, 1, b"h", 9092, -1)  # brokers: id, host, port, rack
    body += struct.pack(">hiii", -1, node, 0, 0)  # cluster id, controller, topics, operations
    connection.sendall(struct.pack(">i", len(body)) + body)


class Broker:
    """Accepts connections; each request is answered by the next behaviour."""

    def __init__(self, *behaviours: Behaviour) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.accepted = 0
        self._behaviours = iter(behaviours)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with connection:
            while frame := connection.recv(65536):
                _, _, correlation = struct.unpack_from(">hhi", frame, 4)
                next(self._behaviours)(connection, correlation)

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def broker() -> Iterator[Callable[..., Broker]]:
    made: list[Broker] = []

    def make(*behaviours: Behaviour) -> Broker:
        made.append(Broker(*behaviours))
        return made[-1]

    yield make
    for one in made:
        one.close()


def answers_as(node: int) -> Behaviour:
    return lambda connection, correlation: answer(connection, correlation, node)


def silent(connection: socket.socket, correlation: int) -> None:
    pass


def hangs_up(connection: socket.socket, correlation: int) -> None:
    connection.shutdown(socket.SHUT_RDWR)


def nodes(wire: Wire) -> list[int]:
    request = MetadataRequest(topics=[], allow_auto_topic_creation=False)
    found = wire.ask(request, version=8, answer=MetadataResponse)
    return [b.node_id for b in found.brokers]


def test_connection_is_reused(broker: Callable[..., Broker]) -> None:
    server = broker(answers_as(1), answers_as(2))
    wire = Wire(server.address)
    assert (nodes(wire), nodes(wire)) == ([1], [2])
    assert server.accepted == 1
    wire.close()


def test_reconnects_after_the_broker_hangs_up(broker: Callable[..., Broker]) -> None:
    server = broker(hangs_up, answers_as(2))
    wire = Wire(server.address)
    with pytest.raises(ConnectionError, match="closed the connection"):
        nodes(wire)
    assert nodes(wire) == [2]
    assert server.accepted == 2
    wire.close()


def test_reconnects_after_a_timeout(
    broker: Callable[..., Broker],
) -> None:
    server = broker(silent, answers_as(2))
    wire = Wire(server.address, seconds=0.2)
    with pytest.raises(TimeoutError):
        nodes(wire)
    assert nodes(wire) == [2]
    assert server.accepted == 2
    wire.close()


def test_view_uses_the_first_broker_that_answers(broker: Callable[..., Broker]) -> None:
    failing, one, two = broker(hangs_up), broker(answers_as(1)), broker(answers_as(2))
    with ClusterView({3: failing.address, 4: one.address, 5: two.address}) as view:
        assert view.brokers() == [1]
    assert two.accepted == 0


def test_view_without_reachable_broker_is_empty() -> None:
    with ClusterView({1: "127.0.0.1:1"}) as view:
        assert view.brokers() == []
        assert view.partitions() == []
        assert view.leader("payments", 0) is None
        assert not view.in_sync_everywhere()
        assert view.out_of_sync() == "no broker answers"

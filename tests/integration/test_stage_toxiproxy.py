"""Our way of talking to toxiproxy, with real servers: two of them, and no brokers."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from onceproof.harness.links.blocks import Block, free_ports, take_block
from onceproof.harness.links.toxiproxy import AppliedToxic, ProxySpec, ProxyTrouble, ToxiproxyServer
from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.processes.sweep import new_marker
from onceproof.harness.tools.setup import StageTools
from onceproof.harness.wait import wait_until

pytestmark = pytest.mark.integration

BLACK_HOLE = AppliedToxic(
    name="hole", type="timeout", stream="downstream", attributes={"timeout": 0}
)


@dataclass(frozen=True)
class Served:
    """A toxiproxy with one proxy `echo` to an echo server, and its own view of itself."""

    server: ToxiproxyServer
    process: Process
    url: str
    block: Block
    port: int

    @property
    def proxied(self) -> tuple[str, int]:
        return self.block.address(1, 1), self.port

    def told(self) -> dict:
        return requests.get(f"{self.url}/proxies", timeout=10).json()


@pytest.fixture(scope="module")
def echo() -> Iterator[tuple[str, int]]:
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket) -> None:
        with connection, contextlib.suppress(ConnectionError):
            while data := connection.recv(1000):
                connection.sendall(data)

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield listener.getsockname()
    listener.close()


@pytest.fixture
def two(tools: StageTools, tmp_path: Path, echo: tuple[str, int]) -> Iterator[list[Served]]:
    processes, blocks = Processes(new_marker(), tmp_path), [take_block(), take_block()]
    made = []
    for block in blocks:
        host = block.address(0, 8)
        port = free_ports([host, block.address(1, 1)], count=2)
        process = processes.start(
            "toxiproxy", [tools.toxiproxy, "-host", host, "-port", str(port)],
            environment={"LOG_LEVEL": "warn"},
        )  # fmt: skip
        server = ToxiproxyServer(host, port)
        wait_until(server.version, what="toxiproxy", seconds=30, seen=process.tail)
        server.populate(
            [
                ProxySpec(
                    name="echo",
                    listen=f"{block.address(1, 1)}:{port + 1}",
                    upstream=f"{echo[0]}:{echo[1]}",
                )
            ]
        )
        made.append(Served(server, process, f"http://{host}:{port}", block, port + 1))
    yield made
    processes.kill_all("the test is over")
    for block in blocks:
        block.release()


def echoes(served: Served) -> bool:
    try:
        with socket.create_connection(served.proxied, 5) as connection:
            connection.sendall(b"hello")
            return connection.recv(5) == b"hello"
    except OSError:
        return False


def test_what_was_told_is_so(two: list[Served]) -> None:
    one, _ = two
    assert echoes(one)
    one.server.set_enabled("echo", False)
    assert one.told()["echo"]["enabled"] is False
    assert not echoes(one)
    one.server.set_enabled("echo", True)
    assert echoes(one)
    one.server.add_toxic("echo", BLACK_HOLE)
    (toxic,) = one.told()["echo"]["toxics"]
    assert (toxic["name"], toxic["stream"], toxic["toxicity"]) == ("hole", "downstream", 1)
    assert one.server.toxics("echo") == ["hole"]
    one.server.remove_toxic("echo", "hole")
    one.server.remove_toxic("echo", "hole")
    assert one.told()["echo"]["toxics"] == []
    assert echoes(one)


def test_two_servers_do_not_mix(two: list[Served]) -> None:
    one, other = two
    one.server.set_enabled("echo", False)
    other.server.add_toxic("echo", BLACK_HOLE)
    assert one.server.disturbed() == {"echo": "disabled"}
    assert other.server.disturbed() == {"echo": "toxics hole"}
    assert one.told()["echo"]["toxics"] == []
    assert other.told()["echo"]["enabled"] is True
    other.server.remove_toxic("echo", "hole")
    assert (echoes(one), echoes(other)) == (False, True)


def test_a_proxy_that_there_is_not(two: list[Served]) -> None:
    server = two[0].server
    for call in (
        lambda: server.set_enabled("nobody", True),
        lambda: server.add_toxic("nobody", BLACK_HOLE),
        lambda: server.remove_toxic("nobody", "hole"),
        lambda: server.toxics("nobody"),
        lambda: server.state("nobody"),
    ):
        with pytest.raises(ProxyTrouble, match=rf"{server.address}: .* /proxies/nobody.*not found"):
            call()


@pytest.mark.parametrize(
    "change",
    [{"type": "gremlin"}, {"stream": "sideways"}],
)
def test_a_toxic_that_there_cannot_be(two: list[Served], change: dict[str, str]) -> None:
    server = two[0].server
    toxic = AppliedToxic(**(vars(BLACK_HOLE) | change))
    with pytest.raises(ProxyTrouble, match="post /proxies/echo/toxics failed"):
        server.add_toxic("echo", toxic)
    assert server.disturbed() == {}


def test_a_toxic_of_the_same_name(two: list[Served]) -> None:
    server = two[0].server
    server.add_toxic("echo", BLACK_HOLE)
    with pytest.raises(ProxyTrouble, match="already exists"):
        server.add_toxic("echo", BLACK_HOLE)


def test_a_proxy_made_anew_while_clients_leave(two: list[Served]) -> None:
    served, _ = two
    slicer = AppliedToxic(
        name="pieces",
        type="slicer",
        stream="downstream",
        attributes={"average_size": 7, "size_variation": 1, "delay": 1000},
    )
    for _ in range(20):
        served.server.add_toxic("echo", slicer)
        clients = [socket.create_connection(served.proxied, 5) for _ in range(8)]
        for client in clients:
            client.sendall(b"x" * 4000)
            assert client.recv(1)
        for client in clients:
            client.close()
        served.server.remake("echo")
        assert served.told()["echo"]["toxics"] == []
        assert echoes(served)


def test_an_address_that_is_taken(two: list[Served], echo: tuple[str, int]) -> None:
    server = two[0].server
    taken = ProxySpec(name="late", listen=f"{echo[0]}:{echo[1]}", upstream="127.0.0.1:1")
    with pytest.raises(ProxyTrouble, match="address already in use"):
        server.populate([taken])


def test_enabling_on_an_address_that_was_taken_meanwhile(two: list[Served]) -> None:
    one, _ = two
    one.server.set_enabled("echo", False)
    with (
        socket.create_server(one.proxied),
        pytest.raises(ProxyTrouble, match="address already in use"),
    ):
        one.server.set_enabled("echo", True)
    one.server.set_enabled("echo", True)
    assert echoes(one)


def test_a_server_that_is_gone(two: list[Served]) -> None:
    one, other = two
    one.process.kill("a test")
    assert one.server.version() is None
    with pytest.raises(ProxyTrouble, match=rf"toxiproxy at {one.server.address}: .*refused"):
        one.server.disturbed()
    with pytest.raises(ProxyTrouble, match="refused"):
        one.server.set_enabled("echo", False)
    assert other.server.disturbed() == {}
    assert other.server.version() == "2.12.0"

"""The toxiproxy client with two real servers and no brokers."""

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
class EchoProxy:
    """A toxiproxy with one proxy `echo` to an echo server."""

    server: ToxiproxyServer
    process: Process
    url: str
    block: Block
    port: int

    @property
    def address(self) -> tuple[str, int]:
        return self.block.address(1, 1), self.port

    def proxies_by_api(self) -> dict:
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
def proxies(tools: StageTools, tmp_path: Path, echo: tuple[str, int]) -> Iterator[list[EchoProxy]]:
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
        made.append(EchoProxy(server, process, f"http://{host}:{port}", block, port + 1))
    yield made
    processes.kill_all("the test is over")
    for block in blocks:
        block.release()


def echoes(proxy: EchoProxy) -> bool:
    try:
        with socket.create_connection(proxy.address, 5) as connection:
            connection.sendall(b"hello")
            return connection.recv(5) == b"hello"
    except OSError:
        return False


def test_toggles_proxy_and_toxics(proxies: list[EchoProxy]) -> None:
    first, _ = proxies
    assert echoes(first)
    first.server.set_enabled("echo", False)
    assert first.proxies_by_api()["echo"]["enabled"] is False
    assert not echoes(first)
    first.server.set_enabled("echo", True)
    assert echoes(first)
    first.server.add_toxic("echo", BLACK_HOLE)
    (toxic,) = first.proxies_by_api()["echo"]["toxics"]
    assert (toxic["name"], toxic["stream"], toxic["toxicity"]) == ("hole", "downstream", 1)
    assert first.server.toxics("echo") == ["hole"]
    first.server.remove_toxic("echo", "hole")
    first.server.remove_toxic("echo", "hole")
    assert first.proxies_by_api()["echo"]["toxics"] == []
    assert echoes(first)


def test_servers_are_independent(proxies: list[EchoProxy]) -> None:
    first, second = proxies
    first.server.set_enabled("echo", False)
    second.server.add_toxic("echo", BLACK_HOLE)
    assert first.server.disturbed() == {"echo": "disabled"}
    assert second.server.disturbed() == {"echo": "toxics hole"}
    assert first.proxies_by_api()["echo"]["toxics"] == []
    assert second.proxies_by_api()["echo"]["enabled"] is True
    second.server.remove_toxic("echo", "hole")
    assert (echoes(first), echoes(second)) == (False, True)


def test_unknown_proxy_is_refused(proxies: list[EchoProxy]) -> None:
    server = proxies[0].server
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
def test_invalid_toxic_is_refused(proxies: list[EchoProxy], change: dict[str, str]) -> None:
    server = proxies[0].server
    toxic = AppliedToxic(**(vars(BLACK_HOLE) | change))
    with pytest.raises(ProxyTrouble, match="post /proxies/echo/toxics failed"):
        server.add_toxic("echo", toxic)
    assert server.disturbed() == {}


def test_duplicate_toxic_name_is_refused(proxies: list[EchoProxy]) -> None:
    server = proxies[0].server
    server.add_toxic("echo", BLACK_HOLE)
    with pytest.raises(ProxyTrouble, match="already exists"):
        server.add_toxic("echo", BLACK_HOLE)


def test_remake_removes_toxics_while_clients_disconnect(proxies: list[EchoProxy]) -> None:
    proxy, _ = proxies
    slicer = AppliedToxic(
        name="pieces",
        type="slicer",
        stream="downstream",
        attributes={"average_size": 7, "size_variation": 1, "delay": 1000},
    )
    for _ in range(20):
        proxy.server.add_toxic("echo", slicer)
        clients = [socket.create_connection(proxy.address, 5) for _ in range(8)]
        for client in clients:
            client.sendall(b"x" * 4000)
            assert client.recv(1)
        for client in clients:
            client.close()
        proxy.server.remake("echo")
        assert proxy.proxies_by_api()["echo"]["toxics"] == []
        assert echoes(proxy)


def test_populate_refuses_address_in_use(proxies: list[EchoProxy], echo: tuple[str, int]) -> None:
    server = proxies[0].server
    taken = ProxySpec(name="late", listen=f"{echo[0]}:{echo[1]}", upstream="127.0.0.1:1")
    with pytest.raises(ProxyTrouble, match="address already in use"):
        server.populate([taken])


def test_enabling_fails_while_its_address_is_in_use(proxies: list[EchoProxy]) -> None:
    first, _ = proxies
    first.server.set_enabled("echo", False)
    with (
        socket.create_server(first.address),
        pytest.raises(ProxyTrouble, match="address already in use"),
    ):
        first.server.set_enabled("echo", True)
    first.server.set_enabled("echo", True)
    assert echoes(first)


def test_dead_server_is_reported(proxies: list[EchoProxy]) -> None:
    first, second = proxies
    first.process.kill("a test")
    assert first.server.version() is None
    with pytest.raises(ProxyTrouble, match=rf"toxiproxy at {first.server.address}: .*refused"):
        first.server.disturbed()
    with pytest.raises(ProxyTrouble, match="refused"):
        first.server.set_enabled("echo", False)
    assert second.server.disturbed() == {}
    assert second.server.version() == "2.12.0"

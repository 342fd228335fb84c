"""Loopback blocks belong to one run, and their ports are free."""

from __future__ import annotations

import socket
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from onceproof.harness.links import blocks
from onceproof.harness.links.blocks import FIRST, LAST, Block, NoFreeBlock, free_ports, take_block
from onceproof.harness.wait import wait_until


def is_taken(number: int) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.bind(f"\0onceproof/block/{number}")
        except OSError:
            return True
    return False


def test_blocks_are_unique() -> None:
    held = [take_block() for _ in range(20)]
    try:
        assert len({block.number for block in held}) == 20
        assert all(FIRST <= block.number <= LAST for block in held)
        assert all(is_taken(block.number) for block in held)
    finally:
        for block in held:
            block.release()


def test_released_block_can_be_taken_again() -> None:
    block = take_block()
    with pytest.raises(NoFreeBlock, match="all 1 loopback blocks are in use by onceproof runs"):
        take_block([block.number])
    block.release()
    second = take_block([block.number])
    assert second.number == block.number
    second.release()


def test_inherited_block_stays_taken_until_the_child_exits() -> None:
    block = take_block()
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()"],
        stdin=subprocess.PIPE,
        pass_fds=[block.fileno()],
    )
    block.release()
    assert is_taken(block.number)
    child.communicate()
    assert not is_taken(block.number)


def test_block_is_released_when_its_process_is_killed() -> None:
    program = (
        "from onceproof.harness.links.blocks import take_block; b = take_block(); print(b.number)"
    )
    hold = "import sys; sys.stdout.flush(); sys.stdin.read()"
    child = subprocess.Popen(
        [sys.executable, "-c", f"{program}\n{hold}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    number = int(child.stdout.readline())
    assert is_taken(number)
    child.kill()
    child.communicate()
    assert not is_taken(number)


def test_address_consists_of_block_and_indices() -> None:
    with socket.socket() as held:
        assert Block(77, held).address(1, 3) == "127.77.1.3"


@pytest.fixture
def in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries candidates in order, so that the next one is predictable.

    Skips ports near those of other processes: these tests listen on every address.
    """

    free = cache(free_everywhere)  # cached, so ports that a test takes still count as free

    def in_order(bases: list[int]) -> None:
        bases[:] = [b for b in bases if all(free(b + n) for n in range(4))]

    monkeypatch.setattr(blocks.random, "shuffle", in_order)


def free_everywhere(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("0.0.0.0", port))
        except OSError:
            return False
    return True


@pytest.fixture
def block():
    held = take_block()
    yield held
    held.release()


@pytest.mark.usefixtures("in_order")
@pytest.mark.parametrize("family", ["0.0.0.0", "::"])
@pytest.mark.parametrize("offset", [0, 3])
def test_free_ports_avoids_wildcard_listeners(block: Block, family: str, offset: int) -> None:
    addresses = [block.address(0, 1), block.address(10, 1)]
    first = free_ports(addresses, count=4)
    with socket.socket(socket.AF_INET6 if ":" in family else socket.AF_INET) as wildcard:
        if ":" in family:
            wildcard.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        wildcard.bind((family, first + offset))
        wildcard.listen()
        second = free_ports(addresses, count=4)
        assert first + offset not in range(second, second + 4)


@pytest.mark.usefixtures("in_order")
def test_free_ports_avoids_ports_taken_on_one_address(block: Block) -> None:
    addresses = [block.address(0, n) for n in (1, 2, 3)]
    first = free_ports(addresses, count=2)
    with socket.create_server((addresses[2], first + 1)):
        assert free_ports(addresses, count=2) != first
        assert free_ports(addresses[:2], count=2) == first


def test_free_ports_are_free_on_all_addresses_and_not_ephemeral(block: Block) -> None:
    addresses = [block.address(i, j) for i in range(3) for j in (1, 2)]
    base = free_ports(addresses, count=8)
    assert base + 8 <= 32_768
    listeners = [socket.create_server((a, base + n)) for n in range(8) for a in addresses]
    for listener in listeners:
        listener.close()


def test_free_ports_raises_if_none_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "is_free", lambda address, port: False)
    with pytest.raises(NoFreeBlock, match=r"no 8 consecutive ports .* are free on 127\.1\.0\.1"):
        free_ports(["127.1.0.1"], count=8)


# Connections in the kernel's socket tables.


@pytest.mark.parametrize("dual", [False, True], ids=["IPv4", "dual stack"])
def test_established_counts_ipv4_and_dual_stack_connections(block: Block, dual: bool) -> None:
    from onceproof.harness.stage.sockets import established

    host = block.address(0, 1)
    port = free_ports([host], count=1)
    family = socket.AF_INET6 if dual else socket.AF_INET
    with socket.socket(family) as listener:
        if dual:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.bind((f"::ffff:{host}" if dual else host, port))
        listener.listen()
        with socket.create_connection((host, port)) as one, listener.accept()[0] as two:
            assert established({f"{host}:{port}"}) == 1
            assert one.fileno() != two.fileno()
        wait_until(lambda: established({f"{host}:{port}"}) == 0, what="none", seconds=20)


def test_reads_socket_tables_without_ipv6(tmp_path: Path) -> None:
    from onceproof.harness.stage import sockets

    (tmp_path / "tcp").write_text(
        "  sl  local_address rem_address   st tx_queue rx_queue\n"
        "   0: 0100007F:1F90 0100007F:D431 01 00000000:00000000\n"
        "   1: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n"
    )
    assert sockets.established({"127.0.0.1:8080"}, tables=tmp_path) == 1
    assert sockets.listens(8080, tables=tmp_path)
    assert not sockets.listens(8081, tables=tmp_path)


def test_established_counts_only_the_server_side_of_its_addresses(block: Block) -> None:
    from onceproof.harness.stage.sockets import established, is_listening

    here, other = block.address(0, 1), block.address(0, 2)
    port = free_ports([here, other], count=1)
    with socket.create_server((here, port)) as listener, socket.create_server((other, port)):
        assert is_listening(here, port)
        assert not is_listening(here, port + 1)
        wait_until(lambda: established({f"{here}:{port}"}) == 0, what="0", seconds=20)
        clients = [socket.create_connection((here, port)) for _ in range(3)]
        servers = [listener.accept()[0] for _ in range(4)]  # one is is_listening's probe
        assert established({f"{here}:{port}"}) == 3
        assert established({f"{here}:{port}", f"{other}:{port}"}) == 3
        assert established({f"{other}:{port}"}) == 0
        clients[0].close()
        wait_until(lambda: established({f"{here}:{port}"}) == 2, what="2", seconds=20)
        for connection in (*clients, *servers):
            connection.close()
    assert established({f"{here}:{port}"}) == 0

"""Loopback blocks and ports: never two runs in one, and no port that somebody else has."""

from __future__ import annotations

import socket
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from onceproof.harness.links import blocks
from onceproof.harness.links.blocks import FIRST, LAST, Block, NoBlock, free_ports, take_block
from onceproof.harness.wait import wait_until


def taken_elsewhere(number: int) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.bind(f"\0onceproof/block/{number}")
        except OSError:
            return True
    return False


def test_two_blocks_are_never_equal() -> None:
    held = [take_block() for _ in range(20)]
    try:
        assert len({block.number for block in held}) == 20
        assert all(FIRST <= block.number <= LAST for block in held)
        assert all(taken_elsewhere(block.number) for block in held)
    finally:
        for block in held:
            block.release()


def test_a_block_that_was_let_go_can_be_taken() -> None:
    block = take_block()
    with pytest.raises(NoBlock, match="all 1 loopback blocks are in use by onceproof runs"):
        take_block([block.number])
    block.release()
    again = take_block([block.number])
    assert again.number == block.number
    again.release()


def test_a_block_is_held_by_every_process_that_inherits_it() -> None:
    block = take_block()
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()"],
        stdin=subprocess.PIPE,
        pass_fds=[block.fileno()],
    )
    block.release()
    assert taken_elsewhere(block.number)
    child.communicate()
    assert not taken_elsewhere(block.number)


def test_a_block_goes_with_its_process() -> None:
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
    assert taken_elsewhere(number)
    child.kill()
    child.communicate()
    assert not taken_elsewhere(number)


def test_an_address_says_what_it_is() -> None:
    with socket.socket() as held:
        assert Block(77, held).address(1, 3) == "127.77.1.3"


@pytest.fixture
def in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates are tried in order, so that it is known which one is next.

    Those near which another stage of this machine listens are passed over: nobody could listen
    there on every address, as these tests do.
    """

    free = cache(free_everywhere)  # as it was at first: what a test itself takes is its matter

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
@pytest.mark.parametrize("place", [0, 3])
def test_a_port_with_a_wildcard_listener_is_avoided(block: Block, family: str, place: int) -> None:
    addresses = [block.address(0, 1), block.address(10, 1)]
    first = free_ports(addresses, count=4)
    with socket.socket(socket.AF_INET6 if ":" in family else socket.AF_INET) as everywhere:
        if ":" in family:
            everywhere.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        everywhere.bind((family, first + place))
        everywhere.listen()
        second = free_ports(addresses, count=4)
        assert first + place not in range(second, second + 4)


@pytest.mark.usefixtures("in_order")
def test_a_port_that_is_taken_on_one_address_only_is_avoided(block: Block) -> None:
    addresses = [block.address(0, n) for n in (1, 2, 3)]
    first = free_ports(addresses, count=2)
    with socket.create_server((addresses[2], first + 1)):
        assert free_ports(addresses, count=2) != first
        assert free_ports(addresses[:2], count=2) == first


def test_ports_are_free_everywhere_and_below_the_ephemeral_range(block: Block) -> None:
    addresses = [block.address(i, j) for i in range(3) for j in (1, 2)]
    base = free_ports(addresses, count=8)
    assert base + 8 <= 32_768
    listeners = [socket.create_server((a, base + n)) for n in range(8) for a in addresses]
    for listener in listeners:
        listener.close()


def test_no_ports_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "is_free", lambda address, port: False)
    with pytest.raises(NoBlock, match=r"no 8 consecutive ports .* are free on 127\.1\.0\.1"):
        free_ports(["127.1.0.1"], count=8)


# What the kernel says of connections.


@pytest.mark.parametrize("dual", [False, True], ids=["IPv4", "as a JVM listens"])
def test_connections_are_counted_whatever_kind_of_socket_listens(block: Block, dual: bool) -> None:
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


def test_a_kernel_without_ipv6(tmp_path: Path) -> None:
    from onceproof.harness.stage import sockets

    (tmp_path / "tcp").write_text(
        "  sl  local_address rem_address   st tx_queue rx_queue\n"
        "   0: 0100007F:1F90 0100007F:D431 01 00000000:00000000\n"
        "   1: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n"
    )
    assert sockets.established({"127.0.0.1:8080"}, tables=tmp_path) == 1
    assert sockets.listens(8080, tables=tmp_path)
    assert not sockets.listens(8081, tables=tmp_path)


def test_established_counts_the_server_side_of_its_addresses_only(block: Block) -> None:
    from onceproof.harness.stage.sockets import established, is_listening

    here, there = block.address(0, 1), block.address(0, 2)
    port = free_ports([here, there], count=1)
    with socket.create_server((here, port)) as one, socket.create_server((there, port)):
        assert is_listening(here, port)
        assert not is_listening(here, port + 1)
        wait_until(lambda: established({f"{here}:{port}"}) == 0, what="0", seconds=20)
        clients = [socket.create_connection((here, port)) for _ in range(3)]
        servers = [one.accept()[0] for _ in range(4)]  # one of the probe
        assert established({f"{here}:{port}"}) == 3
        assert established({f"{here}:{port}", f"{there}:{port}"}) == 3
        assert established({f"{there}:{port}"}) == 0
        clients[0].close()
        wait_until(lambda: established({f"{here}:{port}"}) == 2, what="2", seconds=20)
        for each in (*clients, *servers):
            each.close()
    assert established({f"{here}:{port}"}) == 0

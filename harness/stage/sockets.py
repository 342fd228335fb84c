"""What the kernel says of TCP connections on loopback.

Toxiproxy's own counters move only when a connection closes, so live evidence
comes from `/proc/net/tcp`.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator, Set
from pathlib import Path

_ESTABLISHED, _LISTEN = "01", "0A"
_MAPPED = "0000000000000000FFFF0000"
"""What precedes an IPv4 address in the kernel's table of IPv6 sockets."""


OURS = Path("/proc/net")
"""The tables of our own network; `/proc/<pid>/net` are those of another process's."""


def established(listening: Set[str], *, tables: Path = OURS) -> int:
    """How many connections are established on any of the `host:port` addresses, server side.

    A JVM listens on IPv6 sockets also for IPv4 addresses: its connections are in the other table.
    """
    wanted = {_encoded(address) for address in listening}
    return sum(
        state == _ESTABLISHED and local.removeprefix(_MAPPED) in wanted
        for local, state in _sockets(tables)
    )


def reaching(addresses: Set[str]) -> int:
    """How many connections from this machine to any of the `host:port` addresses are established.

    Raises:
        OSError: a host has no IPv4 address.
    """
    wanted = set()
    for address in addresses:
        host, port = address.rsplit(":", 1)
        wanted.add(_encoded(f"{socket.gethostbyname(host)}:{port}"))
    return sum(
        state == _ESTABLISHED and remote.removeprefix(_MAPPED) in wanted
        for _, remote, state in _ends(OURS)
    )


def listens(port: int, *, tables: Path) -> bool:
    """Whether somebody listens on this port, at whatever address."""
    end = f":{port:04X}"
    return any(state == _LISTEN and local.endswith(end) for local, state in _sockets(tables))


def _sockets(tables: Path) -> Iterator[tuple[str, str]]:
    """(local address, state) of every TCP socket, as the kernel prints them."""
    for local, _, state in _ends(tables):
        yield local, state


def _ends(tables: Path) -> Iterator[tuple[str, str, str]]:
    """(local address, remote address, state) of every TCP socket, as the kernel prints them."""
    for table in (tables / "tcp", tables / "tcp6"):
        if not table.exists():
            continue  # a kernel without IPv6
        for line in table.read_text().splitlines()[1:]:
            _, local, remote, state, *_ = line.split()
            yield local, remote, state


def is_listening(host: str, port: int) -> bool:
    """Whether somebody accepts connections there."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) == 0


def _encoded(address: str) -> str:
    """`host:port` as the kernel prints it: the address's bytes in host order, all in hex."""
    host, port = address.rsplit(":", 1)
    (number,) = struct.unpack("=I", socket.inet_aton(host))
    return f"{number:08X}:{int(port):04X}"

"""TCP connections on loopback, from `/proc/net/tcp`.

Toxiproxy's own counters change only when a connection closes, so they are no evidence of open ones.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator, Set
from pathlib import Path

_ESTABLISHED, _LISTEN = "01", "0A"
_MAPPED = "0000000000000000FFFF0000"
"""Prefix of an IPv4 address in the kernel's table of IPv6 sockets."""


OURS = Path("/proc/net")
"""Socket tables of this process's network; `/proc/<pid>/net` has those of another one's."""


def established(listening: Set[str], *, tables: Path = OURS) -> int:
    """Return the number of established connections to these `host:port` addresses, server side.

    A JVM listens on IPv6 sockets for IPv4 addresses too, so its connections are in the IPv6 table.
    """
    wanted = {_encoded(address) for address in listening}
    return sum(
        state == _ESTABLISHED and local.removeprefix(_MAPPED) in wanted
        for local, state in _sockets(tables)
    )


def reaching(addresses: Set[str]) -> int:
    """Return the number of established connections from this machine to `host:port` addresses.

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
    """Return whether a process listens on this port, at any address."""
    end = f":{port:04X}"
    return any(state == _LISTEN and local.endswith(end) for local, state in _sockets(tables))


def _sockets(tables: Path) -> Iterator[tuple[str, str]]:
    for local, _, state in _ends(tables):
        yield local, state


def _ends(tables: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (local address, remote address, state) of TCP sockets, in the kernel's notation."""
    for table in (tables / "tcp", tables / "tcp6"):
        if not table.exists():
            continue  # a kernel without IPv6
        for line in table.read_text().splitlines()[1:]:
            _, local, remote, state, *_ = line.split()
            yield local, remote, state


def is_listening(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) == 0


def _encoded(address: str) -> str:
    """Return `host:port` in the kernel's notation: address bytes in host order, all in hex."""
    host, port = address.rsplit(":", 1)
    (number,) = struct.unpack("=I", socket.inet_aton(host))
    return f"{number:08X}:{int(port):04X}"
